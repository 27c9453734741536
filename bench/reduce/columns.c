/* Sums of columns, and of whole loops by atomic updates. Prints the microseconds of each, the least of nine runs, the sum of the results, and
   whether results are close to those of one thread of the host. */
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#ifndef LARGEST
#define LARGEST (1 << 26)
#endif

enum { RUNS = 9 };

static float *a, *x, *y;
static double *d;
static int *k;
static double sum;
static float single;
static int count;

static void columns(int n, int m)
{
#pragma omp target teams distribute parallel for map(to: a[0:LARGEST], x[0:LARGEST]) map(from: y[0:LARGEST])
    for (int j = 0; j < m; j++) {
        float own = 0;
        for (int i = 0; i < n; i++)
            own += a[i * m + j] * x[i];
        y[j] = own;
    }
}

static void moments(int n, int m)
{
#pragma omp target teams distribute parallel for map(to: a[0:LARGEST]) map(from: y[0:LARGEST])
    for (int j = 0; j < m; j++) {
        float own = 0, squares = 0;
        for (int i = 0; i < n; i++) {
            own += a[i * m + j];
            squares += a[i * m + j] * a[i * m + j];
        }
        y[j] = squares - own * own / (float)n;
    }
}

/* Each iteration, or one of a thousand. */
static void updates(int n, int m)
{
    (void)m;
#pragma omp target teams distribute parallel for map(to: d[0:LARGEST]) map(tofrom: sum)
    for (int i = 0; i < n; i++) {
#pragma omp atomic
        sum += d[i];
    }
}

static void singles(int n, int m)
{
    (void)m;
#pragma omp target teams distribute parallel for map(to: x[0:LARGEST]) map(tofrom: single)
    for (int i = 0; i < n; i++) {
#pragma omp atomic
        single += x[i];
    }
}

static void all_counted(int n, int m)
{
#pragma omp target teams distribute parallel for map(to: k[0:LARGEST]) map(tofrom: count)
    for (int i = 0; i < n; i++)
        if (k[i] >= m) {
#pragma omp atomic
            count++;
        }
}

static double fastest(void (*kernel)(int, int), int n, int m)
{
    double least = 1e30;
    for (int run = 0; run < RUNS + 1; run++) {
        double start = omp_get_wtime();
        kernel(n, m);
        double time = omp_get_wtime() - start;
        if (run > 0 && time < least)
            least = time;
    }
    return least * 1e6;
}

/* Are the sums of the first and last column close to those in double precision? */
static int is_close(int n, int m)
{
    for (int j = 0; j < m; j += m - 1) {
        double own = 0;
        for (long i = 0; i < n; i++)
            own += (double)a[i * m + j] * x[i];
        if (fabs(own - y[j]) > 1e-3 * (1 + fabs(own)))
            return 0;
    }
    return 1;
}

static double total_of(const float *values, long n)
{
    double total = 0;
    for (long i = 0; i < n; i++)
        total += values[i];
    return total;
}

int main(void)
{
    a = malloc(sizeof(float) * LARGEST), x = malloc(sizeof(float) * LARGEST), y = malloc(sizeof(float) * LARGEST);
    d = malloc(sizeof(double) * LARGEST), k = malloc(sizeof(int) * LARGEST);
    for (long i = 0; i < LARGEST; i++) {
        a[i] = (float)(i * 2654435761u % 1000) * 0.001f;
        x[i] = (float)(i * 40503u % 1000) * 0.001f;
        d[i] = (double)(i % 1000) * 0.25;
        k[i] = (int)(i * 2654435761u >> 7 & 1023);
        y[i] = 0;
    }
    double total = 0;
    int close = 1;
#pragma omp target data map(tofrom: a[0:LARGEST], x[0:LARGEST], y[0:LARGEST], d[0:LARGEST], k[0:LARGEST])
    {
        /* As many elements as there are, in fewer and fewer columns; then short ones. */
        for (int m = 65536; m >= 256; m /= 4) {
            int n = LARGEST / m;
            printf("%.0f,", fastest(columns, n, m));
#pragma omp target update from(y[0:m])
            close &= is_close(n, m);
            total += total_of(y, m);
        }
        for (int m = 4096; m >= 1024; m /= 4) {
            printf("%.0f,", fastest(columns, 512, m));
#pragma omp target update from(y[0:m])
            total += total_of(y, m);
        }
        printf("%.0f,", fastest(moments, LARGEST / 4096, 4096));
#pragma omp target update from(y[0:4096])
        total += total_of(y, 4096);
        for (int n = 1000; n <= LARGEST; n *= 100)
            printf("%.0f,%.0f,%.0f,%.0f,", fastest(updates, n, 0), fastest(singles, n, 0), fastest(all_counted, n, 0), fastest(all_counted, n, 1023));
        printf("%.6g and %.6g %d,%s\n", total, sum, count, close ? "close" : "NOT CLOSE");
    }
    return 0;
}
