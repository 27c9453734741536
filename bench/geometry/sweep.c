// Times kernels in many grids and prints one line of comma-separated values for each.
//
// usage: sweep [SECONDS]           limits in variables; all cases, in the order of their worth, until the time is over
//        sweep --literal SECONDS   the same with limits that are compiled in
//        sweep --more SECONDS      kernels that the first sweep has not, likewise
//        sweep --decades SECONDS   three kernels over five decades of iterations, likewise
//        sweep --few SECONDS       few rows whose number is not compiled in, likewise
//        sweep --once              each kernel once in the compiler's grid, for a profiler
//        sweep --tiny              each kernel once, without a GPU
//
// Inputs and outputs stay on the device. Each result is compared with the one of the compiler's own grid, bit for bit, from an
// output that was filled with another pattern before. Times are the device's own, through harness/cuda_trace.c.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CLAUSES num_teams(teams) thread_limit(threads)
#define NAME(kernel) kernel##_grid
#include "kernels.h"
#define CLAUSES thread_limit(128)
#define NAME(kernel) kernel##_limit
#include "kernels.h"
// A literal limit is compiled into the kernel.
#define CLAUSES num_teams(teams) thread_limit(1)
#define NAME(kernel) kernel##_1
#include "kernels.h"
#define CLAUSES num_teams(teams) thread_limit(2)
#define NAME(kernel) kernel##_2
#include "kernels.h"
#define CLAUSES num_teams(teams) thread_limit(4)
#define NAME(kernel) kernel##_4
#include "kernels.h"
#define CLAUSES num_teams(teams) thread_limit(8)
#define NAME(kernel) kernel##_8
#include "kernels.h"
#define CLAUSES num_teams(teams) thread_limit(16)
#define NAME(kernel) kernel##_16
#include "kernels.h"
#define CLAUSES num_teams(teams) thread_limit(32)
#define NAME(kernel) kernel##_32
#include "kernels.h"
#define CLAUSES num_teams(teams) thread_limit(64)
#define NAME(kernel) kernel##_64
#include "kernels.h"
#define CLAUSES num_teams(teams) thread_limit(128)
#define NAME(kernel) kernel##_128
#include "kernels.h"
#define CLAUSES num_teams(teams) thread_limit(256)
#define NAME(kernel) kernel##_256
#include "kernels.h"
#define CLAUSES num_teams(teams) thread_limit(512)
#define NAME(kernel) kernel##_512
#include "kernels.h"
#define CLAUSES num_teams(teams) thread_limit(1024)
#define NAME(kernel) kernel##_1024
#include "kernels.h"
// Teams of 16 threads that take fewer iterations at once: so many as `threads` says.
#define CLAUSES num_teams(teams) thread_limit(16) dist_schedule(static, threads)
#define NAME(kernel) kernel##_sharing
#include "kernels.h"
#define CLAUSES
#define NAME(kernel) kernel##_default
#include "kernels.h"

enum { PROCESSORS = 132, MOST_GRIDS = 400, REPEATS = 5 };
static const long IN_ELEMENTS = 2400L << 20, OUT_ELEMENTS = 1L << 28;

typedef void kernel_function(int, int, int, const float *, float *, int, int);
struct kernel {
    const char *name;
    kernel_function *grid, *limit, *sharing, *by_default;
    enum shape { ROWS, PAIRS, CUBE, IMAGE } shape;
    kernel_function *literal[11];
};
static const int LIMITS[] = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024};
#define ENTRY(name, shape)                                                                                             \
    {#name, name##_grid, name##_limit, name##_sharing, name##_default, shape,                                          \
     {name##_1, name##_2, name##_4, name##_8, name##_16, name##_32, name##_64, name##_128, name##_256, name##_512,     \
      name##_1024}}
static const struct kernel KERNELS[] = {
    ENTRY(row_sums, ROWS),    ENTRY(row_sums_heavy, ROWS), ENTRY(column_sums, ROWS),  ENTRY(column_sums_heavy, ROWS),
    ENTRY(matrix_sums, PAIRS), ENTRY(rows_of_k, ROWS),     ENTRY(triad, ROWS),        ENTRY(stream_heavy, ROWS),
    ENTRY(stencil, PAIRS),    ENTRY(gemm, PAIRS),          ENTRY(syrk, PAIRS),        ENTRY(gemm_memory, PAIRS),
    ENTRY(column_sums_memory, ROWS), ENTRY(uniform_sums, PAIRS), ENTRY(stencil3d, CUBE), ENTRY(copy3d, CUBE),
    ENTRY(row_update, IMAGE), ENTRY(row_stencil, IMAGE),  ENTRY(row_sums_memory, ROWS),
};
enum { KERNEL_COUNT = sizeof KERNELS / sizeof KERNELS[0] };

// The iterations that teams share, and the elements that are written or lie between them.
static long iterations_of(const struct kernel *kernel, int n, int inner)
{
    return kernel->shape == PAIRS ? (long)n * inner : kernel->shape == CUBE ? (n - 2L) * (n - 2) * (n - 2) : n;
}

static long elements_of(const struct kernel *kernel, int n, int inner)
{
    return kernel->shape == CUBE ? (long)n * n * n : kernel->shape == ROWS ? n : (long)n * inner;
}

static float *in, *out;
static void (*begin)(void);
static void (*end)(double *);
static void (*last_grid)(unsigned *);

static void fill(float *to, long elements)
{
#pragma omp target teams distribute parallel for is_device_ptr(to)
    for (long i = 0; i < elements; i++) {
        unsigned hash = (unsigned)i * 2654435761u;
        hash = (hash ^ hash >> 15) * 2246822519u;
        to[i] = (float)(hash >> 8) / 16777216.0f - 0.5f;
    }
}

static void poison(long elements)
{
    float *to = out;
#pragma omp target teams distribute parallel for is_device_ptr(to)
    for (long i = 0; i < elements; i++)
        to[i] = -12345.0f;
}

static unsigned long checksum(long elements)
{
    unsigned long sum = 0;
    const float *from = out;
#pragma omp target teams distribute parallel for is_device_ptr(from) reduction(+ : sum) map(tofrom : sum)
    for (long i = 0; i < elements; i++) {
        unsigned bits;
        memcpy(&bits, &from[i], sizeof bits);
        sum += (unsigned long)bits * ((unsigned long)i * 2 + 1);
    }
    return sum;
}

static double once(kernel_function *run, int n, int inner, int k, int teams, int threads)
{
    double sums[8];
    double start = omp_get_wtime();
    if (begin)
        begin();
    run(n, inner, k, in, out, teams, threads);
    if (!begin)
        return 1e3 * (omp_get_wtime() - start);
    end(sums);
    return sums[0];
}

static int by_value(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static double best; // of the case

// Prints a line; gives the checksum.
static unsigned long measure(const struct kernel *kernel, const char *how, kernel_function *run, int n, int inner, int k,
                             int teams, int threads, const unsigned long *expected)
{
    long iterations = iterations_of(kernel, n, inner), elements = elements_of(kernel, n, inner);
    poison(elements);
    double first = once(run, n, inner, k, teams, threads);
    unsigned real[2] = {0, 0};
    if (last_grid)
        last_grid(real);
    unsigned long sum = checksum(elements);
    double times[REPEATS] = {first};
    int repeats = best > 0 && first > 8 * best && first > 1 ? 1 : REPEATS;
    for (int i = 0; i < repeats && repeats > 1; i++)
        times[i] = once(run, n, inner, k, teams, threads);
    qsort(times, repeats, sizeof times[0], by_value);
    double median = times[repeats / 2];
    if (best == 0 || median < best)
        best = median;
    printf("%s,%d,%d,%d,%ld,%s,%d,%d,%u,%u,%.5f,%.5f,%.5f,%d,%s\n", kernel->name, n, inner, k, iterations, how, teams, threads,
           real[0], real[1], median, times[0], times[repeats - 1], repeats,
           expected && *expected != sum ? "WRONG" : "same");
    fflush(stdout);
    return sum;
}

static double deadline;

struct grid {
    int teams, threads;
};

static int add(struct grid *grids, int count, long teams, int threads)
{
    if (teams < 1 || teams > 1 << 30 || count >= MOST_GRIDS)
        return count;
    for (int i = 0; i < count; i++)
        if (grids[i].teams == teams && grids[i].threads == threads)
            return count;
    grids[count] = (struct grid){(int)teams, threads};
    return count + 1;
}

// The grids of a case: threads by blocks on a multiprocessor, and as many blocks as there are iterations for.
static int make_grids(struct grid *grids, long iterations, int dense)
{
    static const int THREADS[] = {1, 2, 4, 8, 16, 32, 64, 96, 128, 192, 256, 512, 1024};
    static const int BLOCKS[] = {1, 2, 3, 4, 6, 8, 10, 12, 16, 20, 24, 28, 32};
    int count = 0;
    for (unsigned t = 0; t < sizeof THREADS / sizeof THREADS[0]; t++) {
        int threads = THREADS[t];
        long full = (iterations + threads - 1) / threads;
        if (dense && (threads < 32 || threads > 128))
            continue;
        if (full <= 1 << 20 || threads >= 32)
            count = add(grids, count, full, threads);
        for (unsigned b = 0; b < sizeof BLOCKS / sizeof BLOCKS[0]; b++) {
            int blocks = BLOCKS[b];
            int is_power = (blocks & (blocks - 1)) == 0;
            if (blocks * threads > 2048 || (long)blocks * PROCESSORS > full || (!dense && !is_power))
                continue;
            count = add(grids, count, (long)blocks * PROCESSORS, threads);
        }
    }
    return count;
}

static int literal_limits; // are limits compiled in, or variables?

static kernel_function *variant(const struct kernel *kernel, int threads)
{
    for (unsigned i = 0; literal_limits && i < sizeof LIMITS / sizeof LIMITS[0]; i++)
        if (LIMITS[i] == threads)
            return kernel->literal[i];
    return literal_limits ? NULL : kernel->grid;
}

static void sweep(const char *name, int n, int inner, int k, int dense)
{
    if (omp_get_wtime() > deadline) {
        fprintf(stderr, "no time for %s %d %d %d\n", name, n, inner, k);
        return;
    }
    const struct kernel *kernel = KERNELS;
    while (strcmp(kernel->name, name) != 0)
        kernel++;
    long iterations = iterations_of(kernel, n, inner);
    best = 0;
    unsigned long expected = measure(kernel, "default", kernel->by_default, n, inner, k, 0, 0, NULL);
    measure(kernel, "limit128", kernel->limit, n, inner, k, 0, 128, &expected);
    struct grid grids[MOST_GRIDS];
    int count = make_grids(grids, iterations, dense);
    // Few threads for many iterations take long and tell nothing.
    long least = (iterations < 2048 * PROCESSORS ? iterations : 2048 * PROCESSORS) / 64;
    for (int i = 0; i < count && omp_get_wtime() < deadline; i++)
        if ((long)grids[i].teams * grids[i].threads >= least && variant(kernel, grids[i].threads))
            measure(kernel, literal_limits ? "literal" : "grid", variant(kernel, grids[i].threads), n, inner, k, grids[i].teams, grids[i].threads, &expected);
    measure(kernel, "default", kernel->by_default, n, inner, k, 0, 0, &expected);
}

// What compiled-in limits give, for kernels of every kind.
static void literal_cases(void)
{
    static const int ROWS[] = {132, 1056, 4224, 8448, 16896, 33792, 135168, 1081344};
    static const int STREAM[] = {1 << 14, 1 << 18, 1 << 20, 1 << 22, 1 << 24, 1 << 28};
    for (unsigned i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        sweep("row_sums", ROWS[i], 2048, 1, 0);
        sweep("column_sums", ROWS[i], 2048, 1, 0);
    }
    for (unsigned i = 0; i < sizeof STREAM / sizeof STREAM[0]; i++)
        sweep("triad", STREAM[i], 1, 1, 0);
    for (unsigned i = 0; i < 7; i++) {
        sweep("row_sums_heavy", ROWS[i], 1024, 16, 0);
        sweep("column_sums_heavy", ROWS[i], 1024, 16, 0);
    }
    static const int SQUARES[] = {4096, 1024, 512, 256};
    for (unsigned i = 0; i < 4; i++) {
        sweep("stencil", SQUARES[i], SQUARES[i], 1, 0);
        if (i > 0) {
            sweep("gemm", SQUARES[i], SQUARES[i], 1, 0);
            sweep("syrk", SQUARES[i], SQUARES[i], 1, 0);
        }
    }
    sweep("stream_heavy", 1 << 26, 1, 64, 0);
    sweep("stream_heavy", 1 << 20, 1, 64, 0);
    sweep("rows_of_k", 540672, 192, 1, 0);
    sweep("rows_of_k", 540672, 192, 2, 0);
    sweep("rows_of_k", 33792, 192, 2, 0);
    sweep("rows_of_k", 540672, 192, 6, 0);
    sweep("gemm", 4096, 4096, 1, 0);
    sweep("matrix_sums", 180, 3000, 1, 0);
    sweep("matrix_sums", 180, 3000, 2, 0);
    sweep("syrk", 4000, 4000, 1, 0);
}

// What the suite's programs showed the first sweep to lack.
static void more_cases(void)
{
    static const int SQUARES[] = {448, 512, 256, 1024, 640};
    for (unsigned i = 0; i < 5; i++) {
        sweep("gemm_memory", SQUARES[i], SQUARES[i], 1, 0);
        if (SQUARES[i] == 448 || SQUARES[i] == 640)
            sweep("gemm", SQUARES[i], SQUARES[i], 1, 0);
    }
    static const int ROWS[] = {640, 4224, 33792, 132};
    for (unsigned i = 0; i < 4; i++)
        sweep("column_sums_memory", ROWS[i], 1024, 1, 0);
    for (int k = 1; k <= 4; k *= 2)
        sweep("uniform_sums", 512, 512, k, 0);
    static const int CUBES[] = {128, 64, 256, 400};
    for (unsigned i = 0; i < 4; i++) {
        sweep("stencil3d", CUBES[i], 1, 1, 0);
        sweep("copy3d", CUBES[i], 1, 1, 0);
    }
    static const int IMAGES[] = {64, 256, 1024, 4096};
    for (unsigned i = 0; i < 4; i++) {
        sweep("row_update", IMAGES[i], IMAGES[i], 1, 0);
        sweep("row_stencil", IMAGES[i], IMAGES[i], 1, 0);
    }
    sweep("row_stencil", 32768, 1024, 1, 0);
    sweep("uniform_sums", 1500, 1500, 1, 0);
    sweep("uniform_sums", 1500, 1500, 2, 0);
}

// 23 points. Inner loops of 2048, so that the largest still fits.
static void decades(void)
{
    static const int ROWS[] = {10, 52, 268, 1389, 7197, 37276, 193070, 1000000};
    static const int STREAM[] = {2700, 18400, 125000, 852000, 5810000, 39600000, 268435456};
    for (unsigned i = 0; i < 8; i++) {
        sweep("row_sums", ROWS[i], 2048, 1, 0);
        sweep("column_sums", ROWS[i], 2048, 1, 0);
    }
    for (unsigned i = 0; i < 7; i++)
        sweep("triad", STREAM[i], 1, 1, 0);
}

// Blocks on each multiprocessor share the rows, of which each takes as many at once as come to it.
static void share(const char *name, int n, int inner, int k)
{
    enum { BLOCKS = 16 * PROCESSORS };
    const struct kernel *kernel = KERNELS;
    while (strcmp(kernel->name, name) != 0)
        kernel++;
    if (omp_get_wtime() > deadline)
        return;
    best = 0;
    unsigned long expected = measure(kernel, "default", kernel->by_default, n, inner, k, 0, 0, NULL);
    measure(kernel, "limit128", kernel->limit, n, inner, k, 0, 128, &expected);
    int chunk = n <= 16 * BLOCKS ? (n - 1) / BLOCKS + 1 : 16;
    measure(kernel, "sharing", kernel->sharing, n, inner, k, chunk < 16 ? BLOCKS : (n - 1) / 16 + 1, chunk, &expected);
    for (int threads = 1; threads <= 32; threads *= 2)
        measure(kernel, "literal", variant(kernel, threads), n, inner, k, (n - 1) / threads + 1, threads, &expected);
}

static void few(void)
{
    static const int ROWS[] = {16, 64, 256, 1024, 2112, 4096, 4224, 7197, 8448, 11263, 16896, 25000, 33792, 37276};
    for (unsigned i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        share("row_sums_memory", ROWS[i], 2048, 1);
        share("row_sums_memory", ROWS[i], 8192, 1);
    }
    for (unsigned i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        share("row_sums", ROWS[i], 2048, 1);
        share("row_sums", ROWS[i], 16384, 1);
        share("row_sums", ROWS[i], 64, 1);
        share("rows_of_k", ROWS[i], 512, 2);
        share("rows_of_k", ROWS[i], 192, 6);
    }
    static const int IMAGES[] = {64, 256, 1024, 2048, 4096, 8192};
    for (unsigned i = 0; i < sizeof IMAGES / sizeof IMAGES[0]; i++) {
        share("row_update", IMAGES[i], IMAGES[i], 1);
        share("row_stencil", IMAGES[i], IMAGES[i], 1);
    }
    // And what the suite's sizes lack in the other sweeps.
    for (int k = 1; k <= 4; k *= 2)
        sweep("uniform_sums", 3000, 3000, k, 0);
    sweep("syrk", 448, 448, 1, 0);
    sweep("syrk", 640, 640, 1, 0);
}

static void all_cases(void)
{
    static const int ROWS[] = {132, 1056, 4224, 8448, 33792, 270336, 16, 528, 2112, 16896, 67584, 135168, 1081344};
    for (int k = 1; k <= 10; k++)
        sweep("rows_of_k", 540672, 192, k, 1);
    for (unsigned i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        sweep("row_sums", ROWS[i], 2048, 1, 0);
        sweep("column_sums", ROWS[i], 2048, 1, 0);
    }
    static const int STREAM[] = {1 << 12, 1 << 16, 1 << 20, 1 << 24, 1 << 28, 1 << 14, 1 << 18, 1 << 22, 1 << 26};
    for (unsigned i = 0; i < sizeof STREAM / sizeof STREAM[0]; i++)
        sweep("triad", STREAM[i], 1, 1, 0);
    for (int k = 1; k <= 10; k++)
        sweep("matrix_sums", 180, 3000, k, 1);
    for (unsigned i = 0; i < 6; i++) {
        sweep("row_sums_heavy", ROWS[i], 1024, 16, 0);
        sweep("column_sums_heavy", ROWS[i], 1024, 16, 0);
    }
    sweep("stencil", 4096, 4096, 1, 0);
    sweep("gemm", 1024, 1024, 1, 0);
    sweep("syrk", 1024, 1024, 1, 0);
    sweep("stream_heavy", 1 << 26, 1, 64, 0);
    sweep("stencil", 512, 512, 1, 0);
    sweep("gemm", 256, 256, 1, 0);
    sweep("syrk", 256, 256, 1, 0);
    sweep("gemm", 4096, 4096, 1, 0);
    sweep("syrk", 4000, 4000, 1, 0);
}

int main(int argc, char **argv)
{
    int device = omp_get_default_device();
    int profile = argc > 1 && strcmp(argv[1], "--once") == 0;
    int tiny = argc > 1 && strcmp(argv[1], "--tiny") == 0;
    in = omp_target_alloc((tiny ? 1 << 22 : IN_ELEMENTS) * sizeof *in, device);
    out = omp_target_alloc((tiny ? 1 << 22 : OUT_ELEMENTS) * sizeof *out, device);
    if (!in || !out) {
        fprintf(stderr, "no memory on the device\n");
        return 1;
    }
    fill(in, tiny ? 1 << 22 : IN_ELEMENTS);
    if (profile || tiny) {
        for (int i = 0; i < KERNEL_COUNT; i++) {
            int n = KERNELS[i].shape == ROWS ? tiny ? 300 : 8192 : tiny ? 5 : 256;
            int inner = tiny ? 32 : 256;
            printf("%s,%d\n", KERNELS[i].name, n);
            KERNELS[i].by_default(n, inner, 2, in, out, 0, 0);
            unsigned long expected = checksum(elements_of(&KERNELS[i], n, inner));
            // Those leave a border as it is, or change what was there.
            int whole = !strstr(KERNELS[i].name, "stencil") && KERNELS[i].shape != CUBE && KERNELS[i].shape != IMAGE;
            if (tiny && whole)
                measure(&KERNELS[i], "grid", KERNELS[i].grid, n, inner, 2, 3, 7, &expected);
        }
        return 0;
    }
    begin = (void (*)(void))dlsym(RTLD_DEFAULT, "device_trace_begin");
    end = (void (*)(double *))dlsym(RTLD_DEFAULT, "device_trace_end");
    last_grid = (void (*)(unsigned *))dlsym(RTLD_DEFAULT, "device_trace_last_grid");
    int more = argc > 1 && strcmp(argv[1], "--more") == 0, five_decades = argc > 1 && strcmp(argv[1], "--decades") == 0;
    int few_rows = argc > 1 && strcmp(argv[1], "--few") == 0;
    literal_limits = more || five_decades || few_rows || (argc > 1 && strcmp(argv[1], "--literal") == 0);
    deadline = omp_get_wtime() + (argc > 1 + literal_limits ? atof(argv[1 + literal_limits]) : 1e9);
    printf("kernel,n,inner,k,iterations,how,teams,threads,real_teams,real_threads,median_ms,least_ms,most_ms,runs,result\n");
    if (more)
        more_cases();
    else if (five_decades)
        decades();
    else if (few_rows)
        few();
    else if (literal_limits)
        literal_cases();
    else
        all_cases();
    return 0;
}
