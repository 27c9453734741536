// Serial loops of many lengths, unrolled by hand, in the grids that `geometry` writes: sums of columns, products of a vector with
// columns, a filter, and products of matrices.
//
// usage: lengths-UNROLLED; compiled with -DUNROLLED=N, 0 leaves the loops as they are. Prints kernel, iterations, length of the serial
// loop and microseconds, the launch among them: the best of nine.
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#define TEXT(x) #x
#define PRAGMA(x) _Pragma(TEXT(x))
#if UNROLLED > 0
#define UNROLL PRAGMA(omp unroll partial(UNROLLED))
#else
#define UNROLL
#endif

enum { RUNS = 9 };

#define TIME(name, iterations, length, call)                                                     \
    do {                                                                                         \
        double best = 1e9;                                                                       \
        for (int run = 0; run < RUNS; run++) {                                                   \
            double start = omp_get_wtime();                                                      \
            call;                                                                                \
            double time = omp_get_wtime() - start;                                               \
            best = time < best ? time : best;                                                    \
        }                                                                                        \
        printf("%s,%d,%ld,%d,%.0f\n", name, UNROLLED, (long)(iterations), length, best * 1e6); \
    } while (0)

static void column_sums(int n, int m, const float *a, float *y)
{
#pragma omp target teams distribute parallel for num_teams(2112) thread_limit(32)
    for (int i = 0; i < n; i++) {
        float sum = 0;
        UNROLL
        for (int t = 0; t < m; t++)
            sum += a[t * n + i];
        y[i] = sum;
    }
}

static void column_products(int n, int m, const float *a, const float *x, float *y)
{
#pragma omp target teams distribute parallel for num_teams(2112) thread_limit(32)
    for (int i = 0; i < n; i++) {
        float sum = 0;
        UNROLL
        for (int t = 0; t < m; t++)
            sum += a[t * n + i] * x[t];
        y[i] = sum;
    }
}

static void filter(int n, int m, const float *w, const float *x, float *y)
{
#pragma omp target teams distribute parallel for num_teams(0 <= n && n < 2097152 ? n / 32 + 1 : 65536) thread_limit(32)
    for (int i = 0; i < n; i++) {
        float sum = 0;
        UNROLL
        for (int t = 0; t < m; t++)
            sum += w[t] * x[i + t];
        y[i] = sum;
    }
}

static void matrices(int n, int m, const float *a, const float *b, float *c)
{
#pragma omp target teams distribute parallel for collapse(2) \
    num_teams(0 <= n && n < 1448 ? n * n / 32 + 1 : 65536) thread_limit(32)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            float sum = 0;
            UNROLL
            for (int k = 0; k < m; k++)
                sum += a[i * m + k] * b[k * n + j];
            c[i * n + j] = sum;
        }
}

int main(void)
{
    const size_t elements = 1u << 26;
    float *a = malloc(elements * sizeof *a), *b = malloc(elements * sizeof *b), *c = malloc(elements * sizeof *c);
    for (size_t i = 0; i < elements; i++)
        a[i] = b[i] = c[i] = (float)(i % 7);
#pragma omp target data map(to: a[0:elements], b[0:elements]) map(tofrom: c[0:elements])
    {
        static const int sizes[][2] = { { 512, 1000 },  { 512, 8192 },   { 4096, 100 },   { 4096, 4096 },
                                        { 65536, 10 },  { 65536, 1000 }, { 1000000, 10 }, { 1000000, 50 } };
        for (int s = 0; s < 8; s++) {
            int n = sizes[s][0], m = sizes[s][1];
            TIME("column_sums", n, m, column_sums(n, m, a, c));
            TIME("column_products", n, m, column_products(n, m, a, b, c));
            TIME("filter", n, m, filter(n, m, b, a, c));
        }
        static const int products[][2] = { { 100, 100 },   { 500, 500 }, { 1000, 1000 }, { 1024, 1024 },
                                           { 2000, 2000 }, { 4096, 64 }, { 2000, 10 },   { 4000, 4000 } };
        for (int s = 0; s < 8; s++) {
            int n = products[s][0], m = products[s][1];
            TIME("matrices", (long)n * n, m, matrices(n, m, a, b, c));
        }
    }
    free(a), free(b), free(c);
    return 0;
}
