// Times sums in many grids and prints one line of comma-separated values for each: the kernel, its iterations, teams and threads, and the
// least microseconds of three runs by the device's clock, through harness/cuda_trace.c. No teams: without clauses, with the threads that the
// runtime chose.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

enum { LONGEST = 1 << 26, SIDE = 4096, TIMES = 3 };

static double *x, *y;
static float *image;

#define LINE(text) _Pragma(#text)
#define PRAGMA(text) LINE(text)
// A limit is compiled into its kernel.
#define KERNELS(name, grid)                                                                                            \
    static double product_##name(int n, int teams)                                                                     \
    {                                                                                                                  \
        double sum = 0;                                                                                                \
        (void)teams;                                                                                                   \
        PRAGMA(omp target teams distribute parallel for reduction(+ : sum) grid)                                       \
        for (int i = 0; i < n; i++)                                                                                    \
            sum += x[i] * y[i];                                                                                        \
        return sum;                                                                                                    \
    }                                                                                                                  \
    static double two_sums_##name(int n, int teams)                                                                    \
    {                                                                                                                  \
        double sum = 0, squares = 0;                                                                                   \
        (void)teams;                                                                                                   \
        PRAGMA(omp target teams distribute parallel for collapse(2) reduction(+ : sum, squares) grid)                  \
        for (int i = 0; i < n; i++)                                                                                    \
            for (int j = 0; j < n; j++) {                                                                              \
                float value = image[i * n + j];                                                                        \
                sum += value;                                                                                          \
                squares += value * value;                                                                              \
            }                                                                                                          \
        return sum + squares;                                                                                          \
    }
KERNELS(own, )
KERNELS(128, num_teams(teams) thread_limit(128))
KERNELS(256, num_teams(teams) thread_limit(256))
KERNELS(512, num_teams(teams) thread_limit(512))
KERNELS(1024, num_teams(teams) thread_limit(1024))

static void (*begin)(void);
static void (*end)(double sums[8]);
static void (*last_grid)(unsigned grid[2]);

static void row(const char *name, double (*kernel)(int, int), int n, int iterations, int teams)
{
    double least = 1e30;
    for (int i = 0; i < TIMES; i++) {
        double sums[8];
        begin();
        kernel(n, teams);
        end(sums);
        least = sums[0] < least ? sums[0] : least;
    }
    unsigned grid[2];
    last_grid(grid);
    if (teams)
        printf("%s,%d,%d,%u,%.1f\n", name, iterations, teams, grid[1], 1e3 * least);
    else
        printf("%s,%d,,%u,%.1f\n", name, iterations, grid[1], 1e3 * least);
}

int main(void)
{
    *(void **)&begin = dlsym(RTLD_DEFAULT, "device_trace_begin");
    *(void **)&end = dlsym(RTLD_DEFAULT, "device_trace_end");
    *(void **)&last_grid = dlsym(RTLD_DEFAULT, "device_trace_last_grid");
    if (!begin || !end || !last_grid) {
        fprintf(stderr, "sums: preload harness/cuda_trace.c, which LD_PRELOAD and LD_LIBRARY_PATH name\n");
        return 1;
    }
    x = malloc(LONGEST * sizeof *x);
    y = malloc(LONGEST * sizeof *y);
    image = malloc(SIDE * SIDE * sizeof *image);
    for (int i = 0; i < LONGEST; i++)
        x[i] = i % 7, y[i] = i % 5;
    for (int i = 0; i < SIDE * SIDE; i++)
        image[i] = i % 9;
#pragma omp target enter data map(to: x[0:LONGEST], y[0:LONGEST], image[0:SIDE * SIDE])
    static const int teams[] = {66, 132, 264, 528, 1056, 2112, 3200};
    printf("kernel,iterations,num_teams,threads,us\n");
    for (long n = 4096; n <= LONGEST; n *= n == 4096 ? 16 : 4) {
        row("product", product_own, n, n, 0);
        for (int t = 0; t < 7; t++) {
            row("product", product_128, n, n, teams[t]);
            row("product", product_256, n, n, teams[t]);
            row("product", product_512, n, n, teams[t]);
            row("product", product_1024, n, n, teams[t]);
        }
    }
    for (int n = 256; n <= SIDE; n *= 4) {
        row("two sums", two_sums_own, n, n * n, 0);
        for (int t = 0; t < 7; t++) {
            row("two sums", two_sums_128, n, n * n, teams[t]);
            row("two sums", two_sums_256, n, n * n, teams[t]);
            row("two sums", two_sums_512, n, n * n, teams[t]);
            row("two sums", two_sums_1024, n, n * n, teams[t]);
        }
    }
#pragma omp target exit data map(delete: x[0:LONGEST], y[0:LONGEST], image[0:SIDE * SIDE])
}
