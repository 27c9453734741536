// Loops whose copies take long, as a CPU programmer maps them. `loops.sh` builds this file as it is and as `ompsplit` rewrites
// it; each binary prints one line of comma-separated values for each loop and size.
//
// usage: loops [--tiny] [--loop NAME] [--mib N] [--leave N] [--pinned]
//
// `--loop` and `--mib` measure one loop and one size; `--pinned` takes memory that the driver has page-locked; `--leave` first takes
// the device's memory until N MiB are left, so that larger arrays fit in a window alone.
//
// Times are wall-clock times of one call from pageable host memory to pageable host memory, page-locking included: the median and the
// least of seven calls after one to warm up, whose time comes last. Before it stands a sum of bits over the results, the same in each
// binary.
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REPEATS = 7 };

extern void *llvm_omp_target_alloc_host(size_t, int);

static void stream_1(int n, const float *in, float *out)
{
#pragma omp target teams distribute parallel for map(to: in[0:n]) map(from: out[0:n])
    for (int i = 0; i < n; i++)
        out[i] = in[i] * 0.999f + 0.5f;
}

static void stream_200(int n, const float *in, float *out)
{
#pragma omp target teams distribute parallel for map(to: in[0:n]) map(from: out[0:n])
    for (int i = 0; i < n; i++) {
        float value = in[i];
        for (int step = 0; step < 200; step++)
            value = value * 0.999f + 0.5f;
        out[i] = value;
    }
}

static void stream_2000(int n, const float *in, float *out)
{
#pragma omp target teams distribute parallel for map(to: in[0:n]) map(from: out[0:n])
    for (int i = 0; i < n; i++) {
        float value = in[i];
        for (int step = 0; step < 2000; step++)
            value = value * 0.999f + 0.5f;
        out[i] = value;
    }
}

static void update(int n, const float *in, float *out)
{
#pragma omp target teams distribute parallel for map(to: in[0:n]) map(tofrom: out[0:n])
    for (int i = 0; i < n; i++)
        out[i] = 0.5f * out[i] + in[i];
}

static void convolution(int n, const float *in, float *out)
{
#pragma omp target teams distribute parallel for map(to: in[0:n*n]) map(tofrom: out[0:n*n])
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < n - 1; j++)
            out[i * n + j] = 0.2f * in[i * n + j] + 0.1f * (in[(i - 1) * n + j] + in[(i + 1) * n + j]) +
                             0.05f * (in[i * n + j - 1] + in[i * n + j + 1]);
}

static void gesummv(int n, const float *in, float *out)
{
    const float *x = in, *a = in + n, *b = out + n;
#pragma omp target teams distribute parallel for map(to: a[0:(n-1)*n], b[0:(n-1)*n], x[0:n]) map(from: out[0:n-1])
    for (int i = 0; i < n - 1; i++) {
        float first = 0, second = 0;
        for (int j = 0; j < n; j++) {
            first += a[i * n + j] * x[j];
            second += b[i * n + j] * x[j];
        }
        out[i] = 0.5f * first + 0.25f * second;
    }
}

static float total(int n, const float *in)
{
    float sum = 0;
#pragma omp target teams distribute parallel for map(to: in[0:n]) reduction(max: sum)
    for (int i = 0; i < n; i++)
        if (in[i] > sum)
            sum = in[i];
    return sum;
}

static void largest(int n, const float *in, float *out)
{
    out[0] = total(n, in);
}

// The matrix is copied with the loop over its rows; the one over its columns finds it on the device.
static void atax(int n, const float *in, float *out)
{
    const float *x = in, *a = in + n;
    float *product = out, *y = out + n;
#pragma omp target data map(to: a[0:(n-1)*n], x[0:n]) map(alloc: product[0:n-1]) map(from: y[0:n])
    {
#pragma omp target teams distribute parallel for
        for (int i = 0; i < n - 1; i++) {
            float sum = 0;
            for (int j = 0; j < n; j++)
                sum += a[i * n + j] * x[j];
            product[i] = sum;
        }
#pragma omp target teams distribute parallel for
        for (int j = 0; j < n; j++) {
            float sum = 0;
            for (int i = 0; i < n - 1; i++)
                sum += a[i * n + j] * product[i];
            y[j] = sum;
        }
    }
}

// Two loops of one region, which `split` makes two kernels.
static void smooth_twice(int n, const float *in, float *out)
{
#pragma omp target map(to: in[0:n]) map(tofrom: out[0:n])
    {
#pragma omp parallel for
        for (int i = 1; i < n - 1; i++)
            out[i] = 0.25f * in[i - 1] + 0.5f * in[i] + 0.25f * in[i + 1] - out[i];
#pragma omp parallel for
        for (int i = 0; i < n; i++)
            out[i] = out[i] * out[i] + 0.5f;
    }
}

struct loop {
    const char *name;
    void (*run)(int, const float *, float *);
    int square; // Is its size the length of a row?
};
static const struct loop LOOPS[] = {
    {"stream_1", stream_1, 0},       {"stream_200", stream_200, 0}, {"stream_2000", stream_2000, 0}, {"update", update, 0},
    {"convolution", convolution, 1}, {"gesummv", gesummv, 1},       {"largest", largest, 0},
    {"atax", atax, 1},               {"smooth_twice", smooth_twice, 0},
};

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static uint64_t bits(size_t count, const float *values)
{
    uint64_t sum = 0;
#pragma omp parallel for reduction(+: sum)
    for (size_t i = 0; i < count; i++) {
        uint32_t word;
        memcpy(&word, &values[i], sizeof word);
        sum += (word + 1) * (2 * (uint64_t)i + 1);
    }
    return sum;
}

static void measure(const struct loop *loop, size_t count, float *in, float *out)
{
    double times[REPEATS], first = 0;
    int n = (int)count;
    if (loop->square)
        for (n = 1; (size_t)(n + 1) * (size_t)(n + 1) <= count; n++)
            continue;
    for (int repeat = -1; repeat < REPEATS; repeat++) {
#pragma omp parallel for
        for (size_t i = 0; i < count; i++)
            out[i] = (float)(i % 97) * 0.25f;
        const double begin = omp_get_wtime();
        loop->run(n, in, out);
        *(repeat < 0 ? &first : &times[repeat]) = (omp_get_wtime() - begin) * 1e3;
    }
    qsort(times, REPEATS, sizeof *times, by_value);
    printf("%s,%zu,%.3f,%.3f,%016llx,%.3f\n", loop->name, count * sizeof *in / 1048576, times[REPEATS / 2], times[0],
           (unsigned long long)bits(count, out), first);
    fflush(stdout);
}

// Leaves so many MiB of the device's memory.
static void fill_device(size_t leave)
{
    enum { CHUNK_MIB = 256, MOST = 4096 };
    void *chunks[MOST];
    const int device = omp_get_default_device();
    int count = 0;
    while (count < MOST && (chunks[count] = omp_target_alloc((size_t)CHUNK_MIB << 20, device)))
        count++;
    for (size_t freed = 0; freed < leave && count > 0; freed += CHUNK_MIB)
        omp_target_free(chunks[--count], device);
}

int main(int argc, char **argv)
{
    const char *only = NULL;
    int is_pinned = 0;
    size_t least = (size_t)1 << 20, most = (size_t)1 << 28;
    for (int i = 1; i < argc; i++) {
        const size_t number = i + 1 < argc ? strtoul(argv[i + 1], NULL, 10) : 0;
        if (strcmp(argv[i], "--tiny") == 0)
            least = most = (size_t)1 << 18;
        else if (strcmp(argv[i], "--pinned") == 0)
            is_pinned = 1;
        else if (strcmp(argv[i], "--loop") == 0 && i + 1 < argc)
            only = argv[++i];
        else if (strcmp(argv[i], "--mib") == 0 && number > 0)
            least = most = number << 18, i++;
        else if (strcmp(argv[i], "--leave") == 0 && number > 0)
            fill_device(number), i++;
        else
            return 2;
    }
    float *in = is_pinned ? llvm_omp_target_alloc_host(most * sizeof *in, 0) : malloc(most * sizeof *in);
    float *out = is_pinned ? llvm_omp_target_alloc_host(most * sizeof *out, 0) : malloc(most * sizeof *out);
    if (!in || !out)
        return 1;
    for (size_t i = 0; i < most; i++)
        in[i] = (float)(i % 1000) * 1e-3f;
    puts("loop,mib,median_ms,least_ms,bits,first_ms");
    for (size_t loop = 0; loop < sizeof LOOPS / sizeof *LOOPS; loop++)
        for (size_t count = least; count <= most; count *= 4)
            if (!only || strcmp(only, LOOPS[loop].name) == 0)
                measure(&LOOPS[loop], count, in, out);
    if (!is_pinned) {
        free(in);
        free(out);
    }
    return 0;
}
