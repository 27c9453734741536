/* Pairs of neighbouring loops of several kinds, whose data stay on the device. Prints the microseconds of a pair: the least of nine runs. */
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { TIMES = 9 };

/* Two results of one array. */
static double sums(int n, const double *restrict x, const double *restrict y)
{
    double total = 0, most = 0;
#pragma omp target teams distribute parallel for map(to: x[0:n], y[0:n]) map(tofrom: total) reduction(+: total)
    for (int i = 0; i < n; i++)
        total += x[i] * y[i];
#pragma omp target teams distribute parallel for map(to: x[0:n], y[0:n]) map(tofrom: most) reduction(max: most)
    for (int i = 0; i < n; i++)
        most = fmax(most, fabs(x[i]));
    return most + 0 * total;
}

/* A sum of what was just computed. */
static double update_and_sum(int n, double a, double *restrict x, const double *restrict y)
{
    double largest = 0;
#pragma omp target teams distribute parallel for map(tofrom: x[0:n]) map(to: y[0:n])
    for (int i = 0; i < n; i++)
        x[i] += a * y[i];
#pragma omp target teams distribute parallel for map(tofrom: x[0:n]) map(to: y[0:n]) map(tofrom: largest) reduction(max: largest)
    for (int i = 0; i < n; i++)
        largest = fmax(largest, fabs(x[i]));
    return largest;
}

/* Two products of matrices. */
static double products(int n, const double *restrict a, const double *restrict b, double *restrict c, double *restrict d)
{
#pragma omp target teams distribute parallel for collapse(2) map(to: a[0:n * n], b[0:n * n]) map(tofrom: c[0:n * n], d[0:n * n])
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double sum = 0;
            for (int k = 0; k < n; k++)
                sum += a[i * n + k] * b[k * n + j];
            c[i * n + j] = sum;
        }
#pragma omp target teams distribute parallel for collapse(2) map(to: a[0:n * n], b[0:n * n]) map(tofrom: c[0:n * n], d[0:n * n])
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double sum = 0;
            for (int k = 0; k < n; k++)
                sum += b[i * n + k] * a[k * n + j];
            d[i * n + j] = sum;
        }
    return 0;
}

/* A stencil, and a loop over what it stored. */
static double stencil(int n, const double *restrict a, double *restrict b, double *restrict c)
{
#pragma omp target teams distribute parallel for collapse(2) map(to: a[0:n * n]) map(tofrom: b[0:n * n], c[0:n * n])
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < n - 1; j++)
            b[i * n + j] = 0.25 * (a[i * n + j - 1] + a[i * n + j + 1] + a[(i - 1) * n + j] + a[(i + 1) * n + j]);
#pragma omp target teams distribute parallel for collapse(2) map(to: a[0:n * n]) map(tofrom: b[0:n * n], c[0:n * n])
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < n - 1; j++)
            c[i * n + j] = c[i * n + j] > b[i * n + j] ? c[i * n + j] : b[i * n + j];
    return 0;
}

static double *array(size_t n, int seed)
{
    double *values = malloc(n * sizeof *values);
    for (size_t i = 0; i < n; i++)
        values[i] = (double)(i * (seed + 3) % 101) / 101.0;
    return values;
}

static double one(int kind, int n, const double *a, const double *b, double *c, double *d)
{
    switch (kind) {
    case 0: return sums(n, a, b);
    case 1: return update_and_sum(n, 1e-3, c, b);
    case 2: return products(n, a, b, c, d);
    default: return stencil(n, a, c, d);
    }
}

/* The microseconds of one pair. `elements` is what each array has. */
static double timed(int kind, int n, size_t elements, int steps, double *sum)
{
    double *a = array(elements, 1), *b = array(elements, 2), *c = array(elements, 3), *d = array(elements, 4), best = 0;
#pragma omp target data map(tofrom: a[0:elements], b[0:elements], c[0:elements], d[0:elements])
    for (int t = 0; t < TIMES; t++) {
        double start = omp_get_wtime();
        for (int s = 0; s < steps; s++)
            *sum += one(kind, n, a, b, c, d);
        double step = (omp_get_wtime() - start) * 1e6 / steps;
        best = best > 0 && best < step ? best : step;
    }
    for (size_t i = 0; i < elements; i++)
        *sum += (c[i] + 2 * d[i]) * (double)(1 + i % 7);
    free(a), free(b), free(c), free(d);
    return best;
}

int main(void)
{
    double sum = 0;
    timed(0, 1024, 1024, 10, &sum);
    for (int kind = 0; kind < 2; kind++)
        for (int shift = 14; shift <= 26; shift += 4)
            printf("%.1f,", timed(kind, 1 << shift, (size_t)1 << shift, shift > 20 ? 50 : 300, &sum));
    for (int kind = 2; kind < 4; kind++)
        for (int n = 128; n <= 2048; n *= 4)
            printf("%.1f,", timed(kind, n, (size_t)n * n, kind == 2 && n > 1000 ? 5 : 100, &sum));
    printf("%.17g\n", sum);
    return 0;
}
