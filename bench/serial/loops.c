// Loops that one thread of a target region runs, of which the iterations are independent: how long each call takes, in microseconds, with its copies.
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

static void scaled(int n, const double *a, double *b)
{
#pragma omp target map(to: a[0:n]) map(tofrom: b[0:n])
    for (int i = 0; i < n; i++)
        b[i] = 0.5 * a[i] + b[i];
}

static void product(int n, const double *a, double *b)
{
    int i, j, k;
#pragma omp target map(to: a[0:n*n]) map(tofrom: b[0:n*n])
    for (i = 0; i < n; i++)
        for (j = 0; j < n; j++) {
            double sum = 0;
            for (k = 0; k < n; k++)
                sum += a[i * n + k] * a[k * n + j];
            b[i * n + j] = sum;
        }
}

static void steps(int n, double *a, double *b)
{
#pragma omp target map(tofrom: a[0:n], b[0:n])
    for (int t = 0; t < 20; t++) {
        for (int i = 1; i < n - 1; i++)
            b[i] = 0.25 * (a[i - 1] + 2 * a[i] + a[i + 1]);
        for (int i = 1; i < n - 1; i++)
            a[i] = b[i];
    }
}

static void decomposed(int n, double *a, double *b)
{
    (void)b;
#pragma omp target map(tofrom: a[0:n*n])
    for (int k = 0; k < n; k++) {
        for (int i = k + 1; i < n; i++)
            a[i * n + k] /= a[k * n + k];
        for (int i = k + 1; i < n; i++)
            for (int j = k + 1; j < n; j++)
                a[i * n + j] -= a[i * n + k] * a[k * n + j];
    }
}

/* A loop, a value that one thread computes from it, and two more loops, of which the last hands on what it computes. */
static void mixed(int n, double *a, double *b)
{
#pragma omp target map(tofrom: a[0:n], b[0:n])
    {
        for (int i = 0; i < n; i++)
            a[i] = 0.5 * a[i] + 0.125;
        double const first = a[0] / 3;
        for (int i = 0; i < n; i++)
            b[i] += first * a[i];
        for (int i = 1; i < 100; i++)
            a[i] += a[i - 1];
    }
}

static void few(int n, double *a, double *b)
{
#pragma omp target map(to: b[0:n]) map(tofrom: a[0:n])
    for (int i = 0; i < n; i++)
        a[i] += b[i];
}

static double measure(int elements, int n, void call(int n, double *a, double *b), double *result)
{
    double *a = malloc(elements * sizeof *a), *b = malloc(elements * sizeof *b), best = 1e30;
    for (int run = 0; run < 4; run++) {
        for (int i = 0; i < elements; i++) {
            a[i] = 1 + (i * 7 % 13) * 0.01 + (elements == n * n && i % (n + 1) == 0) * n;
            b[i] = i % 11;
        }
        double start = omp_get_wtime();
        call(n, a, b);
        double time = 1e6 * (omp_get_wtime() - start);
        best = run > 0 && time < best ? time : best;
    }
    for (int i = 0; i < elements; i++)
        *result += a[i] * (i % 5) + b[i];
    free(a);
    free(b);
    return best;
}

static void scaled_of(int n, double *a, double *b) { scaled(n, a, b); }
static void product_of(int n, double *a, double *b) { product(n, a, b); }

int main(void)
{
    double result = 0;
    printf("%.1f", measure(1000000, 1000000, scaled_of, &result));
    printf(",%.1f", measure(200 * 200, 200, product_of, &result));
    printf(",%.1f", measure(100000, 100000, steps, &result));
    printf(",%.1f", measure(200 * 200, 200, decomposed, &result));
    printf(",%.1f", measure(1000000, 1000000, mixed, &result));
    printf(",%.1f", measure(1000, 1000, few, &result));
    printf(",%.1f", measure(100, 100, few, &result));
    printf(",%.1f", measure(10, 10, few, &result));
    printf(",%.17g\n", result);
    return 0;
}
