// Nests of two and three loops that do little, and sums: how long each takes, as a kernel with its launch, from few iterations to many. All have about as
// many iterations in a row of the table: `length` squared. `nests LENGTH` measures one row.
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { KERNELS = 15, LENGTHS = 9, TIMES = 5, LAUNCHES = 20 };

static void five_points(int n, const float *a, float *b)
{
#pragma omp target teams distribute parallel for collapse(2) map(to: a[0:n*n]) map(tofrom: b[0:n*n])
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < n - 1; j++)
            b[i * n + j] = 0.2f * (a[i * n + j] + a[i * n + j - 1] + a[i * n + j + 1] + a[(i - 1) * n + j] + a[(i + 1) * n + j]);
}

static void nine_points(int n, const float *a, float *b)
{
#pragma omp target teams distribute parallel for collapse(2) map(to: a[0:n*n]) map(tofrom: b[0:n*n])
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < n - 1; j++)
            b[i * n + j] = 0.2f * a[i * n + j] + 0.1f * (a[i * n + j - 1] + a[i * n + j + 1] + a[(i - 1) * n + j] + a[(i + 1) * n + j]) +
                           0.05f * (a[(i - 1) * n + j - 1] + a[(i - 1) * n + j + 1] + a[(i + 1) * n + j - 1] + a[(i + 1) * n + j + 1]);
}

static void copy(int n, const float *a, float *b)
{
#pragma omp target teams distribute parallel for collapse(2) map(to: a[0:n*n]) map(tofrom: b[0:n*n])
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < n - 1; j++)
            b[i * n + j] = a[i * n + j];
}

static void bytes(int n, const unsigned char *a, unsigned char *b)
{
#pragma omp target teams distribute parallel for collapse(2) map(to: a[0:n*n]) map(tofrom: b[0:n*n])
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            b[i * n + j] = a[i * n + j] > 99 ? 99 : a[i * n + j];
}

/* A step of Floyd and Warshall: in place, and most iterations store nothing. */
static void shortest(int n, int k, float *b)
{
#pragma omp target teams distribute parallel for collapse(2) map(tofrom: b[0:n*n])
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            if (i != k && j != k && b[i * n + k] + b[k * n + j] < b[i * n + j])
                b[i * n + j] = b[i * n + k] + b[k * n + j];
}

static float residual(int n, const float *a, float *b)
{
    float most = 0;
#pragma omp target teams distribute parallel for collapse(2) map(to: a[0:n*n]) map(tofrom: b[0:n*n], most) reduction(max: most)
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < n - 1; j++) {
            float next = 0.25f * (a[i * n + j - 1] + a[i * n + j + 1] + a[(i - 1) * n + j] + a[(i + 1) * n + j]);
            float change = next > b[i * n + j] ? next - b[i * n + j] : b[i * n + j] - next;
            if (change > most)
                most = change;
            b[i * n + j] = next;
        }
    return most;
}

static void seven_points(int n, const float *a, float *b)
{
#pragma omp target teams distribute parallel for collapse(3) map(to: a[0:n*n*n]) map(tofrom: b[0:n*n*n])
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < n - 1; j++)
            for (int k = 1; k < n - 1; k++) {
                const int cell = (i * n + j) * n + k;
                b[cell] = 0.4f * a[cell] + 0.1f * (a[cell - 1] + a[cell + 1] + a[cell - n] + a[cell + n] + a[cell - n * n] + a[cell + n * n]);
            }
}

static void cube(int n, const float *a, float *b)
{
#pragma omp target teams distribute parallel for collapse(3) map(to: a[0:n*n*n]) map(tofrom: b[0:n*n*n])
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < n; k++)
                b[(i * n + j) * n + k] = 2 * a[(i * n + j) * n + k];
}

static void seven_of_double(int n, const double *a, double *b)
{
#pragma omp target teams distribute parallel for collapse(3) map(to: a[0:n*n*n]) map(tofrom: b[0:n*n*n])
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < n - 1; j++)
            for (int k = 1; k < n - 1; k++) {
                const int cell = (i * n + j) * n + k;
                b[cell] = 0.4 * a[cell] + 0.1 * (a[cell - 1] + a[cell + 1] + a[cell - n] + a[cell + n] + a[cell - n * n] + a[cell + n * n]);
            }
}

/* These two wait for memory, and stay as they are; the residual does as well. */
static void update(int n, const float *a, float *b)
{
#pragma omp target teams distribute parallel for collapse(2) map(to: a[0:n*n]) map(tofrom: b[0:n*n])
    for (int i = 1; i < n; i++)
        for (int j = 1; j < n; j++)
            b[i * n + j] -= 0.5f * (a[i * n + j] - a[(i - 1) * n + j]);
}

static void streams(int n, const double *a, const double *c, double *b)
{
#pragma omp target teams distribute parallel for collapse(2) map(to: a[0:n*n], c[0:n*n]) map(tofrom: b[0:n*n])
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            b[i * n + j] += a[i * n + j] * c[i * n + j];
}

static double sum_of_float(int n, const float *a)
{
    double sum = 0;
#pragma omp target teams distribute parallel for map(to: a[0:n]) map(tofrom: sum) reduction(+: sum)
    for (int i = 0; i < n; i++)
        sum += a[i];
    return sum;
}

static double product_of_float(int n, const float *a, const float *b)
{
    double sum = 0;
#pragma omp target teams distribute parallel for map(to: a[0:n], b[0:n]) map(tofrom: sum) reduction(+: sum)
    for (int i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

static double product_of_double(int n, const double *a, const double *b)
{
    double sum = 0;
#pragma omp target teams distribute parallel for map(to: a[0:n], b[0:n]) map(tofrom: sum) reduction(+: sum)
    for (int i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

static double squares(int n, const float *a, const float *b)
{
    double sum = 0;
#pragma omp target teams distribute parallel for collapse(2) map(to: a[0:n*n], b[0:n*n]) map(tofrom: sum) reduction(+: sum)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            sum += (a[i * n + j] - b[i * n + j]) * (a[i * n + j] - b[i * n + j]);
    return sum;
}

static double best[KERNELS];

static void note(int kernel, double start)
{
    double time = 1e6 * (omp_get_wtime() - start) / LAUNCHES;
    if (best[kernel] == 0 || time < best[kernel])
        best[kernel] = time;
}

static void measure(int n, int side)
{
    size_t size = (size_t)n * n > (size_t)side * side * side ? (size_t)n * n : (size_t)side * side * side;
    float *a = malloc(sizeof(float) * size), *c = malloc(sizeof(float) * (size + 1)), *b = malloc(sizeof(float) * size), *s = malloc(sizeof(float) * size);
    double *d = malloc(sizeof(double) * size), *e = malloc(sizeof(double) * size), *f = malloc(sizeof(double) * size);
    double *g = malloc(sizeof(double) * size);
    unsigned char *u = malloc(size), *v = malloc(size);
    for (size_t i = 0; i < size; i++) {
        a[i] = (float)(i % 1013) / 7;
        d[i] = f[i] = (double)(i % 1009) / 3;
        c[i] = (float)(i % 31), g[i] = (double)(i % 17); // sums of whole numbers
        f[i] = (double)(i % 1009);
        u[i] = (unsigned char)(i % 251);
        b[i] = s[i] = 0, e[i] = 0, v[i] = 0;
    }
    c[size] = 0;
    for (int kernel = 0; kernel < KERNELS; kernel++)
        best[kernel] = 0;
    double sum = 0;
#pragma omp target data map(to: a[0:size], c[0:size + 1], d[0:size], f[0:size], g[0:size], u[0:size]) \
    map(tofrom: b[0:size], s[0:size], e[0:size], v[0:size])
    for (int time = 0; time < TIMES; time++) {
#define TIMED(KERNEL, CALL) do { double start = omp_get_wtime(); for (int l = 0; l < LAUNCHES; l++) CALL; note(KERNEL, start); } while (0)
        TIMED(0, five_points(n, a, b));
        TIMED(1, nine_points(n, a, s));
        TIMED(2, copy(n, a, b));
        TIMED(3, bytes(n, u, v));
        TIMED(4, shortest(n, time % n, s));
        TIMED(5, sum += residual(n, a, b));
        TIMED(6, seven_points(side, a, s));
        TIMED(7, cube(side, a, b));
        TIMED(8, seven_of_double(side, d, e));
        TIMED(9, update(n, a, s));
        TIMED(10, streams(n, d, f, e));
        TIMED(11, sum += sum_of_float(n * n, c));
        TIMED(12, sum += product_of_float(n * n, c, c + 1));
        TIMED(13, sum += product_of_double(n * n, g, f));
        TIMED(14, sum += squares(n, c, c + 1));
    }
    for (size_t i = 0; i < size; i++)
        sum += (double)(i % 31) * (b[i] + s[i] + e[i] + v[i]);
    printf("%d", n);
    for (int kernel = 0; kernel < KERNELS; kernel++)
        printf(",%.1f", best[kernel]);
    printf(",%.17g\n", sum);
    free(a), free(b), free(c), free(g), free(s), free(d), free(e), free(f), free(u), free(v);
}

int main(int argc, char **argv)
{
    const int lengths[LENGTHS] = {100, 256, 400, 512, 724, 1024, 2048, 4096, 8192};
    const int sides[LENGTHS] = {22, 40, 54, 64, 81, 102, 161, 256, 406};
    for (int l = 0; l < LENGTHS; l++)
        if (argc < 2 || atoi(argv[1]) == lengths[l])
            measure(lengths[l], sides[l]);
    return 0;
}
