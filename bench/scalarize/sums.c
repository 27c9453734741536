/* Sums that serial loops form in memory. Prints the microseconds of each kernel, its launch among them: the least of nine. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 1024, M = 4096, TIMES = 9 };

static double a[N][N], b[N][N], c[N][N];
static float rows[M][M], x[M], y[M];

static void product(void)
{
#pragma omp target teams distribute parallel for
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            c[i][j] = 0;
            for (int k = 0; k < N; k++)
                c[i][j] += 1.5 * a[i][k] * b[k][j];
        }
}

/* The element is scaled before: it is loaded once. */
static void update(void)
{
#pragma omp target teams distribute parallel for
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            c[i][j] *= 0.5;
            for (int k = 0; k < N; k++)
                c[i][j] += a[i][k] * a[j][k];
        }
}

static void row_sums(void)
{
#pragma omp target teams distribute parallel for
    for (int i = 0; i < M; i++) {
        y[i] = 0;
        for (int j = 0; j < M; j++)
            y[i] += rows[i][j] * x[j];
    }
}

static void column_sums(void)
{
#pragma omp target teams distribute parallel for
    for (int i = 0; i < M; i++) {
        y[i] = 0;
        for (int j = 0; j < M; j++)
            y[i] += rows[j][i] * x[j];
    }
}

static void covariances(int m, int n, const double *data, double *out)
{
#pragma omp target teams distribute parallel for collapse(2) map(to: data[0:n*m]) map(from: out[0:m*m])
    for (int i = 0; i < m; i++)
        for (int j = 0; j < m; j++) {
            out[i * m + j] = 0;
            for (int k = 0; k < n; k++)
                out[i * m + j] += data[k * m + i] * data[k * m + j];
        }
}

static double best[5];

static void note(int kernel, double start)
{
    double time = 1e6 * (omp_get_wtime() - start);
    if (best[kernel] == 0 || time < best[kernel])
        best[kernel] = time;
}

int main(void)
{
    int m = 1000, n = 1000;
    double *data = malloc(sizeof(double) * n * m), *out = malloc(sizeof(double) * m * m);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            a[i][j] = (i * j % 7) / 7.0;
            b[i][j] = (i + j % 5) / 5.0;
        }
    for (int i = 0; i < M; i++) {
        x[i] = i % 9;
        for (int j = 0; j < M; j++)
            rows[i][j] = (i ^ j) % 13;
    }
    for (int i = 0; i < n * m; i++)
        data[i] = i % 17;
#pragma omp target data map(to: a, b, rows, x, data[0:n*m]) map(from: c, y, out[0:m*m])
    for (int r = 0; r < TIMES; r++) {
        double start = omp_get_wtime();
        product();
        note(0, start);
        start = omp_get_wtime();
        update();
        note(1, start);
        start = omp_get_wtime();
        row_sums();
        note(2, start);
        start = omp_get_wtime();
        column_sums();
        note(3, start);
        start = omp_get_wtime();
        covariances(m, n, data, out);
        note(4, start);
    }
    double sum = 0;
    for (int i = 0; i < N; i++)
        sum = 0.99 * sum + c[i][(7 * i) % N] + y[i] + out[3 * i % (m * m)];
    for (int kernel = 0; kernel < 5; kernel++)
        printf("%.0f,", best[kernel]);
    printf("%.17g\n", sum);
    free(data);
    free(out);
    return 0;
}
