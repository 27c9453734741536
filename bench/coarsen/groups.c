/* Kernels whose neighbouring iterations load the same. For each length it prints the microseconds of each kernel, its launch among them: the
 * least of seven; with a length as its argument, of that one alone. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { KERNELS = 7, TIMES = 7, LENGTHS = 6 };

static void product(int n, const float *a, const float *b, float *c)
{
#pragma omp target teams distribute parallel for collapse(2) map(to: a[0:n*n], b[0:n*n]) map(tofrom: c[0:n*n])
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            float sum = 0.5f * c[i * n + j];
            for (int k = 0; k < n; k++)
                sum += 1.5f * a[i * n + k] * b[k * n + j];
            c[i * n + j] = sum;
        }
}

static void doubles(int n, const double *a, const double *b, double *c)
{
#pragma omp target teams distribute parallel for collapse(2) map(to: a[0:n*n], b[0:n*n]) map(tofrom: c[0:n*n])
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double sum = 0.5 * c[i * n + j];
            for (int k = 0; k < n; k++)
                sum += a[i * n + k] * b[k * n + j];
            c[i * n + j] = sum;
        }
}

static void symmetric(int n, const float *a, float *c)
{
#pragma omp target teams distribute parallel for collapse(2) map(to: a[0:n*n]) map(tofrom: c[0:n*n])
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            float sum = 0.5f * c[i * n + j];
            for (int k = 0; k < n; k++)
                sum += a[i * n + k] * a[j * n + k];
            c[i * n + j] = sum;
        }
}

static void filter(int n, const float *a, const float *weights, float *c)
{
#pragma omp target teams distribute parallel for collapse(2) map(to: a[0:n*n], weights[0:81]) map(tofrom: c[0:n*n])
    for (int i = 0; i < n - 8; i++)
        for (int j = 0; j < n - 8; j++) {
            float sum = 0;
            for (int v = 0; v < 9; v++)
                for (int u = 0; u < 9; u++)
                    sum += a[(i + v) * n + j + u] * weights[v * 9 + u];
            c[i * n + j] = sum;
        }
}

/* As many bodies as a matrix has elements, but for the last lengths. */
static void attract(int n, int m, const float *at, const float *mass, float *force)
{
#pragma omp target teams distribute parallel for map(to: at[0:n], mass[0:m]) map(tofrom: force[0:n])
    for (int i = 0; i < n; i++) {
        float pull = 0, place = at[i];
        for (int k = 0; k < m; k++) {
            float distance = at[k] - place;
            pull += mass[k] * distance / (distance * distance + 0.01f);
        }
        force[i] = pull;
    }
}

/* Nothing is shared here. */
static void transposed(int n, const float *a, float *c)
{
#pragma omp target teams distribute parallel for collapse(2) map(to: a[0:n*n]) map(tofrom: c[0:n*n])
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            c[i * n + j] = 0.25f * a[j * n + i];
}

static void rows(int n, const float *a, const float *b, float *c)
{
#pragma omp target teams distribute parallel for map(to: a[0:n*n], b[0:n]) map(tofrom: c[0:n])
    for (int i = 0; i < n; i++) {
        float sum = c[i];
        for (int k = 0; k < n; k++)
            sum += a[i * n + k] * b[k];
        c[i] = sum;
    }
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
        note(0, start);
        start = omp_get_wtime();
        doubles(n, d, e, f);
        note(1, start);
        start = omp_get_wtime();
        symmetric(n, a, c);
        note(2, start);
        start = omp_get_wtime();
        filter(n, a, b, c);
        note(3, start);
        start = omp_get_wtime();
        attract(bodies, 1000, a, b, c);
        note(4, start);
        start = omp_get_wtime();
        transposed(n, a, c);
        note(5, start);
        start = omp_get_wtime();
        rows(n, a, b, c);
        note(6, start);
    }
    double sum = 0;
    for (size_t i = 0; i < size; i++)
        sum += c[i] * (double)(i % 3) + f[i];
    printf("%d", n);
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
