/* Kernels whose loads or stores lie far apart in either order of the loops. For each length it prints the microseconds of each kernel, its launch
 * among them: the least of seven; with a length as its argument, of that one alone. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { KERNELS = 5, TIMES = 7, LENGTHS = 7 };

static void transpose(int n, const float *a, float *b)
{
#pragma omp target teams distribute parallel for collapse(2) map(to: a[0:n*n]) map(from: b[0:n*n])
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++)
            b[i * n + j] = a[j * n + i];
}

static void doubles(int n, const double *a, double *b)
{
#pragma omp target teams distribute parallel for collapse(2) map(to: a[0:n*n]) map(from: b[0:n*n])
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            b[i * n + j] = a[j * n + i];
}

static void symmetric(int n, const float *a, float *b)
{
#pragma omp target teams distribute parallel for collapse(2) map(to: a[0:n*n]) map(from: b[0:n*n])
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            b[i * n + j] = 0.5f * (a[i * n + j] + a[j * n + i]);
}

static void bytes(int n, const unsigned char *a, unsigned char *b)
{
#pragma omp target teams distribute parallel for collapse(2) map(to: a[0:n*n]) map(from: b[0:n*n])
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            b[i * n + j] = a[j * n + i];
}

/* Two arrays, of which each takes a tile. */
static void two(int n, const float *a, const double *c, float *b)
{
#pragma omp target teams distribute parallel for collapse(2) map(to: a[0:n*n], c[0:n*n]) map(tofrom: b[0:n*n])
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            b[i * n + j] += 0.5f * a[j * n + i] + c[j * n + i];
}

static double best[KERNELS];

static void note(int kernel, double start)
{
    double time = 1e6 * (omp_get_wtime() - start);
    if (best[kernel] == 0 || time < best[kernel])
        best[kernel] = time;
}

static void measure(int n)
{
    size_t size = (size_t)n * n;
    float *a = malloc(sizeof(float) * size), *b = malloc(sizeof(float) * size), *s = malloc(sizeof(float) * size);
    float *t = malloc(sizeof(float) * size);
    double *d = malloc(sizeof(double) * size), *e = malloc(sizeof(double) * size);
    unsigned char *u = malloc(size), *v = malloc(size);
    for (size_t i = 0; i < size; i++) {
        a[i] = (float)(i % 1013) / 7;
        d[i] = (double)(i % 1009) / 3;
        u[i] = (unsigned char)(i % 251);
        t[i] = 0;
    }
    for (int kernel = 0; kernel < KERNELS; kernel++)
        best[kernel] = 0;
#pragma omp target data map(to: a[0:size], d[0:size], u[0:size]) map(from: b[0:size], s[0:size], e[0:size], v[0:size]) map(tofrom: t[0:size])
    for (int time = 0; time < TIMES; time++) {
        double start = omp_get_wtime();
        transpose(n, a, b);
        note(0, start);
        start = omp_get_wtime();
        doubles(n, d, e);
        note(1, start);
        start = omp_get_wtime();
        symmetric(n, a, s);
        note(2, start);
        start = omp_get_wtime();
        bytes(n, u, v);
        note(3, start);
        start = omp_get_wtime();
        two(n, a, d, t);
        note(4, start);
    }
    double sum = 0;
    for (size_t i = 0; i < size; i++)
        sum += (double)(i % 31) * (b[i] + s[i] + e[i] + v[i] + t[i]);
    printf("%d", n);
    for (int kernel = 0; kernel < KERNELS; kernel++)
        printf(",%.0f", best[kernel]);
    printf(",%.17g\n", sum);
    free(a), free(b), free(s), free(t), free(d), free(e), free(u), free(v);
}

int main(int argc, char **argv)
{
    const int lengths[LENGTHS] = {256, 512, 1024, 2048, 4096, 4099, 8192};
    for (int l = 0; l < LENGTHS; l++)
        if (argc < 2 || atoi(argv[1]) == lengths[l])
            measure(lengths[l]);
    return 0;
}
