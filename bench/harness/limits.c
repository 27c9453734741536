// The simple limits of the machine, as one JSON object on standard output: what copies, memory, arithmetic and launches
// reach where nothing else stands in the way.
//
//   limits [SCALE]     SCALE below 1 shrinks every size, to try the program without a GPU
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// LLVM's page-locked host memory.
extern void *llvm_omp_target_alloc_host(size_t bytes, int device);
extern void llvm_omp_target_free_host(void *memory, int device);

enum { REPETITIONS = 5, CHAINS = 8, STEPS = 16, RESIDENT_THREADS = 132 * 2048 };

// 16 bytes, which a thread moves in one access.
typedef float quad __attribute__((vector_size(16)));

// What the measured functions work on.
static int device;
static size_t bytes;         // of each array
static quad *in, *out;       // page-locked, and mapped
static void *pageable;
static void *device_memory;  // where `in` is mapped to
static int teams, threads;   // grid of the kernels
static int points, rounds;   // of the arithmetic
static int launches;
static float *results;

static void *checked(void *memory)
{
    if (!memory) {
        fprintf(stderr, "limits: no memory for %zu bytes\n", bytes);
        exit(2);
    }
    return memory;
}

static int compare(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

// Seconds of one call: the median of some, after one that warms up.
static double seconds(void (*measured)(void))
{
    double times[REPETITIONS];
    measured();
    for (int i = 0; i < REPETITIONS; i++) {
        double start = omp_get_wtime();
        measured();
        times[i] = omp_get_wtime() - start;
    }
    qsort(times, REPETITIONS, sizeof times[0], compare);
    return times[REPETITIONS / 2];
}

static void copy_to_device(const void *from)
{
    if (omp_target_memcpy(device_memory, from, bytes, 0, 0, device, omp_get_initial_device()))
        exit(2);
}

static void copy_from_device(void *to)
{
    if (omp_target_memcpy(to, device_memory, bytes, 0, 0, omp_get_initial_device(), device))
        exit(2);
}

static void pinned_to_device(void) { copy_to_device(in); }
static void pinned_from_device(void) { copy_from_device(in); }
static void pageable_to_device(void) { copy_to_device(pageable); }
static void pageable_from_device(void) { copy_from_device(pageable); }

static void both_ways(void)
{
    size_t count = bytes / sizeof(quad);
#pragma omp target update to(in[0:count]) nowait
#pragma omp target update from(out[0:count]) nowait
#pragma omp taskwait
}

static void launch(void)
{
    for (int i = 0; i < launches; i++) {
#pragma omp target teams distribute parallel for
        for (int j = 0; j < 32; j++) {
        }
    }
}

static void copy_in_device(void)
{
    int count = (int)(bytes / sizeof(quad));
    const quad *a = in;
    quad *b = out;
#pragma omp target teams distribute parallel for num_teams(teams) thread_limit(threads) \
    map(to: a[0:count]) map(from: b[0:count])
    for (int i = 0; i < count; i++)
        b[i] = a[i];
}

// CHAINS independent chains of fused multiply-adds in each thread. The factor is known at run time only, and the sum of
// the chains is stored, so that none can be left out.
static void multiply_add(void)
{
    int count = points;
    int most = rounds;
    float *sums = results;
    float factor = 1.0f / (float)(most + 1);
#pragma omp target teams distribute parallel for num_teams(teams) thread_limit(threads) map(from: sums[0:count])
    for (int i = 0; i < count; i++) {
        float chains[CHAINS];
        for (int c = 0; c < CHAINS; c++)
            chains[c] = (float)(i + c);
        for (int round = 0; round < most; round++)
            for (int step = 0; step < STEPS; step++)
                for (int c = 0; c < CHAINS; c++)
                    chains[c] = chains[c] * factor + 0.5f;
        float sum = 0;
        for (int c = 0; c < CHAINS; c++)
            sum += chains[c];
        sums[i] = sum;
    }
}

// The shortest time of a kernel of so many iterations on a few grids, less the time of its launch. A kernel too short
// to tell the two apart, as at a small scale, is left as it is.
static double kernel_seconds(void (*kernel)(void), int iterations, double launch_seconds)
{
    double best = INFINITY;
    for (threads = 64; threads <= 1024; threads *= 2) {
        int full = (iterations + threads - 1) / threads;
        int resident = RESIDENT_THREADS / threads;
        teams = full;
        best = fmin(best, seconds(kernel));
        teams = resident < full ? resident : full;
        best = fmin(best, seconds(kernel));
    }
    return best > 2 * launch_seconds ? best - launch_seconds : best;
}

static int scaled(double value, double scale) { return value * scale < 1 ? 1 : (int)(value * scale); }

int main(int count, char **words)
{
    double scale = count > 1 ? atof(words[1]) : 1;
    if (count > 2 || !(scale > 0 && scale <= 1)) {
        fprintf(stderr, "usage: %s [SCALE], 0 < SCALE <= 1\n", words[0]);
        return 2;
    }
    device = omp_get_default_device();
    int quads = scaled((1 << 30) / sizeof(quad), scale);
    bytes = quads * sizeof(quad);
    points = scaled(1 << 22, scale);
    rounds = scaled(1024, scale);
    launches = scaled(1000, scale < 0.01 ? 0.01 : scale);

    in = checked(llvm_omp_target_alloc_host(bytes, device));
    out = checked(llvm_omp_target_alloc_host(bytes, device));
    pageable = checked(malloc(bytes));
    results = checked(malloc(points * sizeof *results));
    memset(in, 0, bytes);
    memset(out, 0, bytes);
    memset(pageable, 0, bytes);
#pragma omp target enter data map(to: in[0:quads], out[0:quads]) map(alloc: results[0:points])
    device_memory = checked(omp_get_mapped_ptr(in, device));

    double gigabytes = bytes / 1e9;
    double to_device = gigabytes / seconds(pinned_to_device);
    double from_device = gigabytes / seconds(pinned_from_device);
    double pageable_to = gigabytes / seconds(pageable_to_device);
    double pageable_from = gigabytes / seconds(pageable_from_device);
    double both = 2 * gigabytes / seconds(both_ways);
    double launch_seconds = seconds(launch) / launches;
    double memory = 2 * gigabytes / kernel_seconds(copy_in_device, quads, launch_seconds);
    double operations = 2.0 * CHAINS * STEPS * rounds * points;
    double arithmetic = operations / 1e12 / kernel_seconds(multiply_add, points, launch_seconds);

    printf("{\"to_device_gb_s\": %.2f, \"from_device_gb_s\": %.2f, \"pageable_to_device_gb_s\": %.2f, "
           "\"pageable_from_device_gb_s\": %.2f, \"both_ways_gb_s\": %.2f, \"device_memory_gb_s\": %.1f, "
           "\"float_tflop_s\": %.3f, \"launch_us\": %.2f}\n",
           to_device, from_device, pageable_to, pageable_from, both, memory, arithmetic, launch_seconds * 1e6);

#pragma omp target exit data map(delete: in[0:quads], out[0:quads], results[0:points])
    llvm_omp_target_free_host(in, device);
    llvm_omp_target_free_host(out, device);
    free(pageable);
    free(results);
    return 0;
}
