/* Kernels by hand, in which each thread makes ROWS x COLUMNS elements: rows beside each other, columns APART from each other (1, or the 32
 * threads of a warp). In kernels of one loop a thread makes ROWS elements, APART from each other. For each length it prints the microseconds
 * of each kernel, its launch among them: the least of seven. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#ifndef ROWS
#define ROWS 1
#endif
#ifndef COLUMNS
#define COLUMNS 1
#endif
#ifndef APART
#define APART 1
#endif
#ifndef THREADS
#define THREADS 128
#endif

enum { KERNELS = 7, TIMES = 7, LENGTHS = 6, WIDTH = COLUMNS * APART, HEIGHT = ROWS * APART };

#define PRAGMA(text) _Pragma(#text)
#define TEAMS(n) (int)(((n) / ROWS + 1L) * (((n) / WIDTH + 1L) * APART) / THREADS + 1)
#define EACH_ROW PRAGMA(omp unroll full) for (int row = 0; row < ROWS; row++)
#define EACH PRAGMA(omp unroll full) for (int row = 0; row < ROWS; row++) PRAGMA(omp unroll full) for (int column = 0; column < COLUMNS; column++)

/* A kernel of rows and columns: what an element begins with, the heads of its serial loops, a step, and how it ends. */
#define NEST(length, clauses, type, begin, heads, step, end)                                                                   \
    PRAGMA(omp target teams distribute parallel for collapse(3) num_teams(TEAMS(length)) thread_limit(THREADS) clauses)        \
    for (int first = 0; first < length; first += ROWS)                                                                         \
        for (int block = 0; block < length; block += WIDTH)                                                                    \
            for (int lane = 0; lane < APART; lane++) {                                                                         \
                if (length - first >= ROWS && length - block >= WIDTH) {                                                       \
                    type sum[ROWS][COLUMNS];                                                                                   \
                    EACH {                                                                                                     \
                        const int i = first + row, j = block + lane + APART * column;                                          \
                        sum[row][column] = begin;                                                                              \
                    }                                                                                                          \
                    heads EACH {                                                                                               \
                        const int i = first + row, j = block + lane + APART * column;                                          \
                        sum[row][column] += step;                                                                              \
                    }                                                                                                          \
                    EACH {                                                                                                     \
                        const int i = first + row, j = block + lane + APART * column;                                          \
                        end = sum[row][column];                                                                                \
                    }                                                                                                          \
                } else {                                                                                                       \
                    for (int row = 0; row < ROWS; row++)                                                                       \
                        for (int column = 0; column < COLUMNS; column++)                                                       \
                            if (row < length - first && lane + APART * column < length - block) {                              \
                                const int i = first + row, j = block + lane + APART * column;                                  \
                                type sum = begin;                                                                              \
                                heads sum += step;                                                                             \
                                end = sum;                                                                                     \
                            }                                                                                                  \
                }                                                                                                              \
            }

/* A kernel of one loop. */
#define LINE(length, clauses, type, begin, heads, step, end)                                                                   \
    PRAGMA(omp target teams distribute parallel for collapse(2) num_teams((length) / ROWS / THREADS + 1) thread_limit(THREADS) clauses) \
    for (int block = 0; block < length; block += HEIGHT)                                                                       \
        for (int lane = 0; lane < APART; lane++) {                                                                             \
            if (length - block >= HEIGHT) {                                                                                    \
                type sum[ROWS];                                                                                                \
                EACH_ROW {                                                                                                     \
                    const int i = block + lane + APART * row;                                                                  \
                    sum[row] = begin;                                                                                          \
                }                                                                                                              \
                heads EACH_ROW {                                                                                               \
                    const int i = block + lane + APART * row;                                                                  \
                    sum[row] += step;                                                                                          \
                }                                                                                                              \
                EACH_ROW {                                                                                                     \
                    const int i = block + lane + APART * row;                                                                  \
                    end = sum[row];                                                                                            \
                }                                                                                                              \
            } else {                                                                                                           \
                for (int row = lane; row < length - block; row += APART) {                                                     \
                    const int i = block + row;                                                                                 \
                    type sum = begin;                                                                                          \
                    heads sum += step;                                                                                         \
                    end = sum;                                                                                                 \
                }                                                                                                              \
            }                                                                                                                  \
        }

#define SERIAL for (int k = 0; k < n; k++)
#define WINDOW for (int v = 0; v < 9; v++) for (int u = 0; u < 9; u++)

static void product(int n, const float *a, const float *b, float *c)
{
    NEST(n, map(to: a[0:n*n], b[0:n*n]) map(tofrom: c[0:n*n]), float, 0.5f * c[i * n + j], SERIAL,
         1.5f * a[i * n + k] * b[k * n + j], c[i * n + j])
}

static void doubles(int n, const double *a, const double *b, double *c)
{
    NEST(n, map(to: a[0:n*n], b[0:n*n]) map(tofrom: c[0:n*n]), double, 0.5 * c[i * n + j], SERIAL,
         a[i * n + k] * b[k * n + j], c[i * n + j])
}

static void symmetric(int n, const float *a, float *c)
{
    NEST(n, map(to: a[0:n*n]) map(tofrom: c[0:n*n]), float, 0.5f * c[i * n + j], SERIAL,
         a[i * n + k] * a[j * n + k], c[i * n + j])
}

static void filter(int n, const float *a, const float *weights, float *c)
{
    int m = n - 8;
    NEST(m, map(to: a[0:n*n], weights[0:81]) map(tofrom: c[0:n*n]), float, 0, WINDOW,
         a[(i + v) * n + j + u] * weights[v * 9 + u], c[i * n + j])
}

static void transposed(int n, const float *a, float *c)
{
    NEST(n, map(to: a[0:n*n]) map(tofrom: c[0:n*n]), float, a[j * n + i], for (int k = 0; k < 1; k++), 0.25f, c[i * n + j])
}

static void rows(int n, const float *a, const float *b, float *c)
{
    LINE(n, map(to: a[0:n*n], b[0:n*n]) map(tofrom: c[0:n*n]), float, c[i], SERIAL, a[i * n + k] * b[k], c[i])
}

static void attract(int n, int m, const float *at, const float *mass, float *force)
{
    LINE(n, map(to: at[0:n], mass[0:m]) map(tofrom: force[0:n]), float, force[i], for (int k = 0; k < m; k++),
         mass[k] * (at[k] - at[i]) / ((at[k] - at[i]) * (at[k] - at[i]) + 0.01f), force[i])
}

static double best[KERNELS];

static double note(int kernel, double start)
{
    double now = omp_get_wtime(), time = 1e6 * (now - start);
    if (best[kernel] == 0 || time < best[kernel])
        best[kernel] = time;
    return omp_get_wtime();
}

static void measure(int n)
{
    size_t size = (size_t)n * n;
    float *a = malloc(sizeof(float) * size), *b = malloc(sizeof(float) * size), *c = malloc(sizeof(float) * size);
    double *d = malloc(sizeof(double) * size), *e = malloc(sizeof(double) * size), *f = malloc(sizeof(double) * size);
    int bodies = n < 1024 ? n * n : 1 << 20;
    for (size_t i = 0; i < size; i++) {
        a[i] = (float)(i % 7) / 7;
        b[i] = (float)(i % 11) / 13;
        c[i] = d[i] = e[i] = f[i] = (double)(i % 5) / 3;
    }
    for (int kernel = 0; kernel < KERNELS; kernel++)
        best[kernel] = 0;
#pragma omp target data map(to: a[0:size], b[0:size], d[0:size], e[0:size]) map(tofrom: c[0:size], f[0:size])
    for (int time = 0; time < TIMES; time++) {
        double start = omp_get_wtime();
        product(n, a, b, c);
        start = note(0, start);
        doubles(n, d, e, f);
        start = note(1, start);
        symmetric(n, a, c);
        start = note(2, start);
        filter(n, a, b, c);
        start = note(3, start);
        transposed(n, a, c);
        start = note(4, start);
        rows(n, a, b, c);
        start = note(5, start);
        attract(bodies, 1000, a, b, c);
        note(6, start);
    }
    double sum = 0;
    for (size_t i = 0; i < size; i++)
        sum += c[i] * (double)(i % 3) + f[i];
    printf("%d,%d,%d,%d,%d", ROWS, COLUMNS, APART, THREADS, n);
    for (int kernel = 0; kernel < KERNELS; kernel++)
        printf(",%.0f", best[kernel]);
    printf(",%.17g\n", sum);
    free(a), free(b), free(c), free(d), free(e), free(f);
}

int main(int argc, char **argv)
{
    const int lengths[LENGTHS] = {256, 512, 1024, 2048, 4096, 4099};
    for (int l = 0; l < LENGTHS; l++)
        if (argc < 2 || atoi(argv[1]) == lengths[l])
            measure(lengths[l]);
    return 0;
}
