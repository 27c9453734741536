// Loops whose results are combined: how long each takes, as a kernel with its launch, from few iterations to many. All have about as many iterations in a
// row of the table: `length` squared. `sums LENGTH` measures one row. With harness/cuda_trace.c in front of the driver, the kernels alone are measured.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { KERNELS = 13, LENGTHS = 8, TIMES = 5, LAUNCHES = 20 };

static double sum_of_float(int n, const float *a)
{
    double sum = 0;
#pragma omp target teams distribute parallel for map(to: a[0:n]) map(tofrom: sum) reduction(+: sum)
    for (int i = 0; i < n; i++)
        sum += a[i];
    return sum;
}

/* Whole numbers below 2^24, which no order of the additions changes. */
static double float_sum(int n, const float *a)
{
    float sum = 0;
#pragma omp target teams distribute parallel for map(to: a[0:n]) map(tofrom: sum) reduction(+: sum)
    for (int i = 0; i < n; i++)
        sum += a[i] > 29 ? 1.0f : 0.0f;
    return sum;
}

static double product(int n, const double *a, const double *b)
{
    double sum = 0;
#pragma omp target teams distribute parallel for map(to: a[0:n], b[0:n]) map(tofrom: sum) reduction(+: sum)
    for (int i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

/* A step of conjugate gradients. */
static double update(int n, double alpha, const double *p, const double *w, double *x, double *r)
{
    double sum = 0;
#pragma omp target teams distribute parallel for map(to: p[0:n], w[0:n]) map(tofrom: x[0:n], r[0:n], sum) reduction(+: sum)
    for (int i = 0; i < n; i++) {
        x[i] += alpha * p[i];
        r[i] -= alpha * w[i];
        sum += r[i] * r[i];
    }
    return sum;
}

static double norm(int n, const double *a)
{
    double sum = 0;
#pragma omp target teams distribute parallel for collapse(2) map(to: a[0:n*n]) map(tofrom: sum) reduction(+: sum)
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < n - 1; j++) {
            double rest = 4 * a[i * n + j] - a[i * n + j - 1] - a[i * n + j + 1] - a[(i - 1) * n + j] - a[(i + 1) * n + j];
            sum += rest * rest;
        }
    return sum;
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

/* Each team finds more than those before it. */
static double rising(int n, const double *a)
{
    double most = 0;
#pragma omp target teams distribute parallel for map(to: a[0:n]) map(tofrom: most) reduction(max: most)
    for (int i = 0; i < n; i++)
        if (a[i] + i > most)
            most = a[i] + i;
    return most;
}

/* The time step that a scheme allows. */
static double time_step(int n, const double *speed, const double *density, const double *pressure)
{
    double step = 1e9;
#pragma omp target teams distribute parallel for collapse(2) map(to: speed[0:n*n], density[0:n*n], pressure[0:n*n]) map(tofrom: step) \
    reduction(min: step)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            const int cell = i * n + j;
            const double sound = sqrt(1.4 * pressure[cell] / density[cell]);
            const double own = 1 / (sound + fabs(speed[cell]));
            if (own < step)
                step = own;
        }
    return step;
}

static double circle(int n)
{
    double sum = 0;
#pragma omp target teams distribute parallel for reduction(+: sum)
    for (int i = 0; i < n; i++) {
        double x = (i + 0.5) / n;
        sum += x < 1 ? 0.25 : 0.5;
    }
    return sum;
}

static int divisible(int n, const int *a)
{
    int count = 0;
#pragma omp target teams distribute parallel for map(to: a[0:n]) reduction(+: count)
    for (int i = 0; i < n; i++) {
        int rest = a[i];
        for (int d = 2; d < 12; d++)
            rest = rest % d == 0 ? rest / d : rest;
        count += rest == 1;
    }
    return count;
}

static unsigned checksum(int n, const int *a)
{
    unsigned sum = 0;
#pragma omp target teams distribute parallel for map(to: a[0:n]) reduction(^: sum)
    for (int i = 0; i < n; i++)
        sum ^= (unsigned)a[i] * 2654435761u;
    return sum;
}

/* Each iteration adds up a row of 64. */
static double rows(int n, const float *a)
{
    double sum = 0;
#pragma omp target teams distribute parallel for map(to: a[0:n*64]) reduction(+: sum)
    for (int i = 0; i < n; i++) {
        float row = 0;
        for (int k = 0; k < 64; k++)
            row += a[i * 64 + k];
        sum += row;
    }
    return sum;
}

/* Elements in any order. */
static double gathered(int n, const int *place, const float *a)
{
    double sum = 0;
#pragma omp target teams distribute parallel for map(to: place[0:n], a[0:n]) reduction(+: sum)
    for (int i = 0; i < n; i++)
        sum += a[place[i]];
    return sum;
}

static double best[KERNELS], started;
static void (*trace_begins)(void);
static void (*trace_ends)(double sums[8]);

static void begin(void)
{
    if (trace_begins)
        trace_begins();
    started = omp_get_wtime();
}

static void end(int kernel)
{
    double time = 1e6 * (omp_get_wtime() - started), sums[8];
    if (trace_ends) {
        trace_ends(sums);
        time = 1e3 * sums[0];
    }
    time /= LAUNCHES;
    if (best[kernel] == 0 || time < best[kernel])
        best[kernel] = time;
}

static void measure(int n)
{
    const int all = n * n;
    const size_t size = (size_t)all + n + 1;
    float *f = malloc(sizeof(float) * size), *g = malloc(sizeof(float) * size);
    double *d = malloc(sizeof(double) * size), *e = malloc(sizeof(double) * size), *x = malloc(sizeof(double) * size), *r = malloc(sizeof(double) * size);
    int *k = malloc(sizeof(int) * size), *place = malloc(sizeof(int) * size);
    for (size_t i = 0; i < size; i++) {
        f[i] = (float)(i % 31), g[i] = 0; // sums of whole numbers
        d[i] = (double)(i % 17 + 1), e[i] = (double)(i % 13), x[i] = 0, r[i] = (double)(i % 7);
        k[i] = (int)(i * 7919 % 1000003);
        place[i] = (int)(i * 7919 % (size_t)all);
    }
    for (int kernel = 0; kernel < KERNELS; kernel++)
        best[kernel] = 0;
    double sum = 0;
#pragma omp target data map(to: f[0:size], d[0:size], e[0:size], k[0:size], place[0:size]) map(tofrom: g[0:size], x[0:size], r[0:size])
    for (int time = 0; time < TIMES; time++) {
#define TIMED(KERNEL, CALL) do { begin(); for (int l = 0; l < LAUNCHES; l++) sum += CALL; end(KERNEL); } while (0)
        TIMED(0, sum_of_float(all, f));
        TIMED(1, product(all, d, e));
        TIMED(2, update(all, 1, d, e, x, r));
        TIMED(3, norm(n, d));
        TIMED(4, residual(n, f, g));
        TIMED(5, time_step(n, e, d, d));
        TIMED(6, circle(all));
        TIMED(7, divisible(all, k));
        TIMED(8, checksum(all, k));
        TIMED(9, rows(all / 64, f));
        TIMED(10, gathered(all, place, f));
        TIMED(11, float_sum(all, f));
        TIMED(12, rising(all, d));
    }
    for (size_t i = 0; i < size; i++)
        sum += (double)(i % 31) * (g[i] + x[i] + r[i]);
    printf("%d", n);
    for (int kernel = 0; kernel < KERNELS; kernel++)
        printf(",%.1f", best[kernel]);
    printf(",%.17g\n", sum);
    free(f), free(g), free(d), free(e), free(x), free(r), free(k), free(place);
}

int main(int argc, char **argv)
{
    trace_begins = (void (*)(void))dlsym(RTLD_DEFAULT, "device_trace_begin");
    trace_ends = (void (*)(double *))dlsym(RTLD_DEFAULT, "device_trace_end");
    const int lengths[LENGTHS] = {32, 100, 320, 512, 1024, 2048, 4096, 8192};
    for (int l = 0; l < LENGTHS; l++)
        if (argc < 2 || atoi(argv[1]) == lengths[l])
            measure(lengths[l]);
    return 0;
}
