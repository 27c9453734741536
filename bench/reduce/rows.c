/* Loops over rows whose sums serial loops form. Prints the microseconds of each, the least of nine runs, the sum of the results, and
   whether results are close to those of one thread of the host. */
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { RUNS = 9, SAMPLES = 8, LARGEST = 1 << 28 };

static float *a, *b, *s;
static int *c, *t;

static void row_sums(int n, int m)
{
#pragma omp target teams distribute parallel for map(to: a[0:LARGEST]) map(from: s[0:LARGEST])
    for (int i = 0; i < n; i++) {
        float sum = 0;
        for (int k = 0; k < m; k++)
            sum += a[i * m + k];
        s[i] = sum;
    }
}

static void softmax(int n, int m)
{
#pragma omp target teams distribute parallel for map(to: a[0:LARGEST]) map(from: b[0:LARGEST])
    for (int i = 0; i < n; i++) {
        float most = a[i * m], sum = 0;
        for (int k = 0; k < m; k++)
            if (a[i * m + k] > most)
                most = a[i * m + k];
        for (int k = 0; k < m; k++)
            sum += expf(a[i * m + k] - most);
        for (int k = 0; k < m; k++)
            b[i * m + k] = expf(a[i * m + k] - most) / sum;
    }
}

static void product(int n, int m)
{
#pragma omp target teams distribute parallel for map(to: a[0:LARGEST], b[0:LARGEST]) map(from: s[0:LARGEST])
    for (int i = 0; i < n; i++) {
        s[i] = 0;
        for (int k = 0; k < m; k++)
            s[i] += a[i * m + k] * b[k];
    }
}

/* How well each key fits one query, weighed by the exponential function, and the mean of the values of each row. */
static void attention(int n, int m)
{
#pragma omp target teams distribute parallel for map(to: a[0:LARGEST], b[0:LARGEST]) map(from: s[0:LARGEST])
    for (int i = 0; i < n; i++) {
        float fit = 0, mean = 0;
        for (int k = 0; k < m; k++)
            fit += a[i * m + k] * b[k];
        for (int k = 0; k < m; k++)
            mean += a[i * m + k] * (1.0f / m);
        s[i] = expf(fit * 0.001f) * mean;
    }
}

static void counts(int n, int m)
{
#pragma omp target teams distribute parallel for map(to: c[0:LARGEST]) map(from: t[0:LARGEST])
    for (int i = 0; i < n; i++) {
        int low = 0, high = 0, all = 0;
        for (int k = 0; k < m; k++) {
            if (c[i * m + k] < 64)
                low++;
            if (c[i * m + k] >= 192)
                high++;
            all += c[i * m + k];
        }
        t[i] = all + low * 3 - high;
    }
}

/* Of all pairs of rows. */
static void distances(int n, int m)
{
#pragma omp target teams distribute parallel for collapse(2) map(to: a[0:LARGEST]) map(from: s[0:LARGEST])
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            float sum = 0;
            for (int k = 0; k < m; k++)
                sum += (a[i * m + k] - a[j * m + k]) * (a[i * m + k] - a[j * m + k]);
            s[i * n + j] = sum;
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

/* Is a sum of a row close to that in double precision? */
static int is_close(int n, int m)
{
    for (int sample = 0; sample < SAMPLES; sample++) {
        int i = (long)sample * (n - 1) / (SAMPLES - 1);
        double sum = 0;
        for (int k = 0; k < m; k++)
            sum += a[i * m + k];
        if (fabs(sum - s[i]) > 1e-3 * (1 + fabs(sum)))
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
    a = malloc(sizeof(float) * LARGEST), b = malloc(sizeof(float) * LARGEST), s = malloc(sizeof(float) * LARGEST);
    c = malloc(sizeof(int) * LARGEST), t = malloc(sizeof(int) * LARGEST);
    for (long i = 0; i < LARGEST; i++) {
        a[i] = (float)(i * 2654435761u % 1000) * 0.001f;
        b[i] = (float)(i * 40503u % 1000) * 0.001f;
        c[i] = (int)(i * 2654435761u >> 7 & 255);
        s[i] = 0, t[i] = 0;
    }
    double total = 0;
    int close = 1;
#pragma omp target data map(tofrom: a[0:LARGEST], b[0:LARGEST], s[0:LARGEST], c[0:LARGEST], t[0:LARGEST])
    {
        printf("%.0f", fastest(row_sums, 4096, 16384));
#pragma omp target update from(s[0:4096])
        close &= is_close(4096, 16384);
        total += total_of(s, 4096);
        printf(",%.0f", fastest(row_sums, 262144, 1024));
#pragma omp target update from(s[0:262144])
        close &= is_close(262144, 1024);
        total += total_of(s, 262144);
        printf(",%.0f", fastest(softmax, 100000, 784));
#pragma omp target update from(b[0:784])
        total += total_of(b, 784);
        printf(",%.0f", fastest(product, 16384, 16384));
#pragma omp target update from(s[0:16384])
        total += total_of(s, 16384);
        printf(",%.0f", fastest(attention, 65536, 2048));
#pragma omp target update from(s[0:65536])
        total += total_of(s, 65536);
        printf(",%.0f", fastest(counts, 65536, 4096));
#pragma omp target update from(t[0:65536])
        long counted = 0;
        for (int i = 0; i < 65536; i++)
            counted = (counted * 31 + t[i]) % 1000000007;
        printf(",%.0f", fastest(distances, 512, 1024));
#pragma omp target update from(s[0:512 * 512])
        total += total_of(s, 512 * 512);
        printf(",%.0f", fastest(row_sums, 1000000, 100));
#pragma omp target update from(s[0:1000000])
        close &= is_close(1000000, 100);
        total += total_of(s, 1000000);
        printf(",%.6g and %ld,%s\n", total, counted, close ? "close" : "NOT CLOSE");
    }
    return 0;
}
