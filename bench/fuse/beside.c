/* Constructs that touch nothing of each other: a matrix and its transpose times vectors, borders of two lengths, and fields whose pointers may
   lead to the same elements. Their data stay on the device. Prints the microseconds of a step: the least of nine runs. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { TIMES = 9, PASSES = 10 };

/* Both products walk through the same matrix, the one along its rows. */
static void products(int n, const float *a, const float *p, const float *r, float *q, float *s)
{
#pragma omp target data map(to: a[0:n * n], p[0:n], r[0:n]) map(tofrom: q[0:n], s[0:n])
    {
#pragma omp target teams distribute parallel for
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                q[i] += a[i * n + j] * p[j];
#pragma omp target teams distribute parallel for
        for (int j = 0; j < n; j++)
            for (int i = 0; i < n; i++)
                s[j] += a[i * n + j] * r[i];
    }
}

/* Four borders, two of either length. */
static void borders(int n, int m, float *restrict a, float *restrict b, float *restrict c, float *restrict d)
{
#pragma omp target data map(tofrom: a[0:n], b[0:n], c[0:m], d[0:m])
    {
#pragma omp target teams distribute parallel for
        for (int i = 0; i < n; i++)
            a[i] = a[i] * 0.5f + 1;
#pragma omp target teams distribute parallel for
        for (int i = 0; i < m; i++)
            c[i] = c[i] * 0.5f + 2;
#pragma omp target teams distribute parallel for
        for (int i = 0; i < n; i++)
            b[i] = b[i] * 0.25f + 3;
#pragma omp target teams distribute parallel for
        for (int i = 0; i < m; i++)
            d[i] = d[i] * 0.25f + 4;
    }
}

/* Passes over four fields, of which no construct maps two. */
static void fields(int n, float *a, float *b, float *c, float *d)
{
    for (int t = 0; t < PASSES; t++) {
#pragma omp target teams distribute parallel for map(tofrom: a[0:n])
        for (int i = 0; i < n; i++)
            a[i] = a[i] * 0.5f + t;
#pragma omp target teams distribute parallel for map(tofrom: b[0:n])
        for (int i = 0; i < n; i++)
            b[i] = b[i] * 0.25f + t;
#pragma omp target teams distribute parallel for map(tofrom: c[0:n])
        for (int i = 0; i < n; i++)
            c[i] = c[i] * 0.75f - t;
#pragma omp target teams distribute parallel for map(tofrom: d[0:n])
        for (int i = 0; i < n; i++)
            d[i] = d[i] * 0.125f - t;
    }
}

static float *array(size_t elements, int seed)
{
    float *made = malloc(elements * sizeof *made);
    for (size_t i = 0; i < elements; i++)
        made[i] = (float)((i * 7 + (size_t)seed) % 13) * 0.1f;
    return made;
}

/* The microseconds of one step. */
static double timed(int kind, int n, int m, int steps, double *sum)
{
    size_t long_one = n > m ? (size_t)n : (size_t)m, elements = kind == 0 ? (size_t)n * (size_t)n : 1;
    float *matrix = array(elements, 1), *a = array(long_one, 2), *b = array(long_one, 3), *c = array(long_one, 4), *d = array(long_one, 5);
    double best = 0;
#pragma omp target data map(to: matrix[0:elements]) map(tofrom: a[0:long_one], b[0:long_one], c[0:long_one], d[0:long_one])
    for (int t = 0; t < TIMES; t++) {
        double start = omp_get_wtime();
        for (int s = 0; s < steps; s++)
            switch (kind) {
            case 0: products(n, matrix, a, b, c, d); break;
            case 1: borders(n, m, a, b, c, d); break;
            default: fields(n, a, b, c, d);
            }
        double step = (omp_get_wtime() - start) * 1e6 / steps;
        best = best > 0 && best < step ? best : step;
    }
    for (size_t i = 0; i < long_one; i++)
        *sum += (a[i] + 2 * b[i] + 3 * c[i] + 4 * d[i]) * (double)(1 + i % 7);
    free(matrix), free(a), free(b), free(c), free(d);
    return best;
}

int main(void)
{
    double sum = 0;
    timed(1, 1024, 1024, 10, &sum);
    for (int n = 128; n <= 8192; n *= 4)
        printf("%.1f,", timed(0, n, n, n > 2000 ? 10 : 100, &sum));
    printf("%.1f,", timed(1, 1000, 2000, 200, &sum));
    printf("%.1f,", timed(1, 100, 1000000, 200, &sum));
    printf("%.1f,", timed(1, 4000000, 4000001, 100, &sum));
    for (int shift = 10; shift <= 22; shift += 6)
        printf("%.1f,", timed(2, 1 << shift, 1, shift > 20 ? 10 : 50, &sum));
    printf("%.17g\n", sum);
    return 0;
}
