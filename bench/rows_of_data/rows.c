// Loops whose threads walk along rows that data tell, with teams of several sizes: products of sparse matrices with a vector, in which every element of a
// row has a column anywhere (`random`) or near the diagonal (`near`), or some rows are very long (`uneven`), and forces of neighbours in a list. Each thread makes one
// iteration. Prints microseconds of a kernel, the least of three
// times the mean of four; by the device's clock with harness/cuda_trace.c in front of the driver.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { TIMES = 3, LAUNCHES = 4, NEIGHBOURS = 64, LENGTHS = 6, NEAR = 200 };

#define PRAGMA(TEXT) _Pragma(#TEXT)
#define KERNELS(THREADS) \
    static void sparse_##THREADS(int n, const int *start, const int *column, const float *value, const float *x, float *y) \
    { \
        PRAGMA(omp target teams distribute parallel for num_teams((n - 1) / THREADS + 1) thread_limit(THREADS)) \
        for (int i = 0; i < n; i++) { \
            float sum = 0; \
            for (int k = start[i]; k < start[i + 1]; k++) \
                sum += value[k] * x[column[k]]; \
            y[i] = sum; \
        } \
    } \
    static void sparse_double_##THREADS(int n, const int *start, const int *column, const double *value, const double *x, double *y) \
    { \
        PRAGMA(omp target teams distribute parallel for num_teams((n - 1) / THREADS + 1) thread_limit(THREADS)) \
        for (int i = 0; i < n; i++) { \
            double sum = 0; \
            for (int k = start[i]; k < start[i + 1]; k++) \
                sum += value[k] * x[column[k]]; \
            y[i] = sum; \
        } \
    } \
    static void forces_##THREADS(int n, const int *count, const int *list, const double *x, double *y) \
    { \
        PRAGMA(omp target teams distribute parallel for num_teams((n - 1) / THREADS + 1) thread_limit(THREADS)) \
        for (int i = 0; i < n; i++) { \
            double sum = 0; \
            for (int k = 0; k < count[i]; k++) { \
                const int j = list[i * NEIGHBOURS + k]; \
                const double a = x[3 * i] - x[3 * j], b = x[3 * i + 1] - x[3 * j + 1], c = x[3 * i + 2] - x[3 * j + 2]; \
                sum += 1 / (a * a + b * b + c * c + 1); \
            } \
            y[i] = sum; \
        } \
    } \
    static void front_##THREADS(int n, const int *start, const int *column, int *level) \
    { \
        PRAGMA(omp target teams distribute parallel for num_teams((n - 1) / THREADS + 1) thread_limit(THREADS)) \
        for (int i = 0; i < n; i++) \
            if (level[i] == 3) \
                for (int k = start[i]; k < start[i + 1]; k++) \
                    if (level[column[k]] < 0) \
                        level[column[k]] = -1; \
    }

KERNELS(16)
KERNELS(32)
KERNELS(64)
KERNELS(128)
KERNELS(256)

static void (*trace_begins)(void);
static void (*trace_ends)(double *);
static double started, best;

static void begin(void)
{
    if (trace_begins)
        trace_begins();
    started = omp_get_wtime();
}

static void end(void)
{
    double time = 1e6 * (omp_get_wtime() - started), sums[8];
    if (trace_ends) {
        trace_ends(sums);
        time = 1e3 * sums[0];
    }
    time /= LAUNCHES;
    if (best == 0 || time < best)
        best = time;
}

#define TIMED(CALL) \
    do { \
        best = 0; \
        for (int time = 0; time < TIMES; time++) { \
            begin(); \
            for (int launch = 0; launch < LAUNCHES; launch++) \
                CALL; \
            end(); \
        } \
        printf(",%.1f", best); \
    } while (0)
#define ALL_SIZES(NAME, ...) \
    do { \
        printf("%s,%s,%d", #NAME, kinds[kind], n); \
        TIMED(NAME##_16(__VA_ARGS__)); \
        TIMED(NAME##_32(__VA_ARGS__)); \
        TIMED(NAME##_64(__VA_ARGS__)); \
        TIMED(NAME##_128(__VA_ARGS__)); \
        TIMED(NAME##_256(__VA_ARGS__)); \
        printf("\n"); \
    } while (0)

static unsigned state = 1;

static unsigned next(void)
{
    state = state * 1664525u + 1013904223u;
    return state >> 8;
}

/* A number of a row beside this one, or of any. */
static int neighbour(int row, int n, int near)
{
    const int other = near ? row + (int)(next() % (2 * NEAR)) - NEAR : (int)(next() % (unsigned)n);
    return other < 0 ? 0 : other >= n ? n - 1 : other;
}

static const char *const kinds[] = {"random", "near", "uneven"};

static void measure(int n, int kind)
{
    const int near = kind == 1;
    int *start = malloc(sizeof(int) * (n + 1ul)), *count = malloc(sizeof(int) * n), *level = malloc(sizeof(int) * n);
    start[0] = 0;
    for (int i = 0; i < n; i++) {
        start[i + 1] = start[i] + 8 + (int)(next() % 24) + (kind == 2 && i % 256 == 0 ? 2048 : 0);
        count[i] = 20 + (int)(next() % 20);
        level[i] = i % 4;
    }
    const int nonzeros = start[n];
    const size_t pairs = (size_t)n * NEIGHBOURS;
    int *column = malloc(sizeof(int) * nonzeros), *list = malloc(sizeof(int) * pairs);
    for (int i = 0; i < n; i++) {
        for (int k = start[i]; k < start[i + 1]; k++)
            column[k] = neighbour(i, n, near);
        for (int k = 0; k < NEIGHBOURS; k++)
            list[(size_t)i * NEIGHBOURS + k] = neighbour(i, n, near);
    }
    float *value = calloc(nonzeros, sizeof(float)), *x = calloc(n, sizeof(float)), *y = calloc(n, sizeof(float));
    double *wide = calloc(nonzeros, sizeof(double)), *wide_x = calloc(3ul * n, sizeof(double)), *wide_y = calloc(n, sizeof(double));
#pragma omp target data map(to: start[0:n + 1], count[0:n], column[0:nonzeros], list[0:pairs], value[0:nonzeros], x[0:n], wide[0:nonzeros], \
                                wide_x[0:3 * n]) map(tofrom: level[0:n]) map(alloc: y[0:n], wide_y[0:n])
    {
        ALL_SIZES(sparse, n, start, column, value, x, y);
        ALL_SIZES(sparse_double, n, start, column, wide, wide_x, wide_y);
        ALL_SIZES(forces, n, count, list, wide_x, wide_y);
        ALL_SIZES(front, n, start, column, level);
    }
    free(start), free(count), free(level), free(column), free(list), free(value), free(x), free(y), free(wide), free(wide_x), free(wide_y);
}

int main(void)
{
    trace_begins = (void (*)(void))dlsym(RTLD_DEFAULT, "device_trace_begin");
    trace_ends = (void (*)(double *))dlsym(RTLD_DEFAULT, "device_trace_end");
    const int lengths[LENGTHS] = {2000, 20000, 100000, 400000, 1000000, 3000000};
    printf("kernel,columns,rows,16,32,64,128,256\n");
    for (int kind = 0; kind < 3; kind++)
        for (int length = 0; length < LENGTHS; length++)
            measure(lengths[length], kind);
    return 0;
}
