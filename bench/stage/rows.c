/* Sums over rows of which neighbouring threads have one each. For each number of rows and of their elements it prints the microseconds of each kernel, its
 * launch among them: the least of nine. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KERNELS = 4, TIMES = 9, SIZES = 10 };

static void product(int n, int m, float alpha, const float *a, float *c)
{
#pragma omp target teams distribute parallel for collapse(2) map(to: a[0:n*m]) map(tofrom: c[0:n*n])
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < m; k++)
                c[i * n + j] += alpha * a[i * m + k] * a[j * m + k];
}

static void doubles(int n, int m, const double *a, const double *b, double *c)
{
#pragma omp target teams distribute parallel for collapse(2) map(to: a[0:n*m], b[0:n*m]) map(from: c[0:n*n])
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double sum = 0;
            for (int k = 0; k < m; k++)
                sum += a[i * m + k] * b[j * m + k];
            c[i * n + j] = sum;
        }
}

static void distances(int n, int m, const float *a, float *c)
{
#pragma omp target teams distribute parallel for collapse(2) map(to: a[0:n*m]) map(from: c[0:n*n])
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            float sum = 0;
            for (int k = 0; k < m; k++) {
                float way = a[i * m + k] - a[j * m + k];
                sum += way * way;
            }
            c[i * n + j] = sum;
        }
}

/* How many elements are equal, and which is the largest difference. */
static void bytes(int n, int m, const unsigned char *a, int *c)
{
#pragma omp target teams distribute parallel for collapse(2) map(to: a[0:n*m]) map(from: c[0:n*n])
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            int equal = 0, most = 0;
            for (int k = 0; k < m; k++) {
                int way = a[i * m + k] - a[j * m + k];
                equal += way == 0;
                most = way > most ? way : most;
            }
            c[i * n + j] = equal * 256 + most;
        }
}

static double best[KERNELS];

static void note(int kernel, double start)
{
    double time = 1e6 * (omp_get_wtime() - start);
    if (best[kernel] == 0 || time < best[kernel])
        best[kernel] = time;
}

static unsigned long long folded(unsigned long long hash, size_t size, const void *result)
{
    const unsigned char *bytes = result;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ bytes[i]) * 1099511628211u;
    return hash;
}

static void measure(int n, int m)
{
    size_t in = (size_t)n * m, out = (size_t)n * n;
    float *a = malloc(sizeof(float) * in), *c = malloc(sizeof(float) * out), *f = malloc(sizeof(float) * out);
    double *d = malloc(sizeof(double) * in), *e = malloc(sizeof(double) * in), *g = malloc(sizeof(double) * out);
    unsigned char *u = malloc(in);
    int *v = malloc(sizeof(int) * out);
    for (size_t i = 0; i < in; i++) {
        a[i] = (float)(i % 1013) / 1013;
        d[i] = (double)(i % 1009) / 1009;
        e[i] = (double)(i % 503) / 503;
        u[i] = (unsigned char)(i % 251);
    }
    memset(c, 0, sizeof(float) * out);
    memset(best, 0, sizeof best);
#pragma omp target data map(to: a[0:in], d[0:in], e[0:in], u[0:in]) map(from: f[0:out], g[0:out], v[0:out]) map(tofrom: c[0:out])
    for (int time = 0; time < TIMES; time++) {
        double start = omp_get_wtime();
        product(n, m, 0.3f, a, c);
        note(0, start);
        start = omp_get_wtime();
        doubles(n, m, d, e, g);
        note(1, start);
        start = omp_get_wtime();
        distances(n, m, a, f);
        note(2, start);
        start = omp_get_wtime();
        bytes(n, m, u, v);
        note(3, start);
    }
    unsigned long long hash = folded(0, sizeof(float) * out, c);
    hash = folded(hash, sizeof(double) * out, g);
    hash = folded(hash, sizeof(float) * out, f);
    hash = folded(hash, sizeof(int) * out, v);
    printf("%d,%d", n, m);
    for (int kernel = 0; kernel < KERNELS; kernel++)
        printf(",%.0f", best[kernel]);
    printf(",%llx\n", hash);
    free(a), free(c), free(f), free(d), free(e), free(g), free(u), free(v);
}

int main(void)
{
    const int sizes[SIZES][2] = {{256, 256}, {256, 1024}, {512, 64}, {512, 128}, {512, 512}, {1024, 100}, {1024, 1024}, {1021, 1021}, {2048, 512}, {4096, 256}};
    for (int s = 0; s < SIZES; s++)
        measure(sizes[s][0], sizes[s][1]);
    return 0;
}
