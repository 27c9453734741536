// Measures kernels in many grids, as a plan says that stands on standard input:
//
//   case KERNEL N M K WRITTEN RANGE SORTED BIJECTIVE
//   point THREADS TEAMS FACTOR STRIDE AXIS
//
// THREADS 0: without clauses; -128: `thread_limit(128)` alone. WRITTEN: elements of c; RANGE: elements that x points into; SORTED: whether b
// increases; BIJECTIVE: whether no two elements of x are equal. For each point it prints one line of comma-separated values. The grid without
// clauses is measured first and last in each case. Each result is compared with the first one of its case, bit for bit. Times are the
// device's own, through bench/harness/cuda_trace.c; without it they are the host's, and say nothing.
//
// usage: PROGRAM [tiny | profiled SECONDS PLAN]. `profiled`, with a plan from a file, is for a profiler that counts what launches do: each point
// is launched once, in the order of the lines that are printed; nothing is timed or compared. A profiler saves all memory of the device before it
// launches a kernel again, so each case says first how many elements of each array it needs:
//
//   memory A B X C
//
// After SECONDS (0: never) it stops between two points, so that a profiler loses nothing of what it counted.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef void run_function(int, int, int, const float *, const float *, const int *, float *, int);
struct variant {
    const char *kernel;
    int factor, stride;
    char axis;
    int threads;
    run_function *run;
};
extern const struct variant VARIANTS[];

enum { LAUNCHES = 4 };
static long in_elements, b_elements, x_elements, out_elements;
static float *a, *b, *c;
static int *x;
static void (*begin)(void);
static void (*end)(double *);
static void (*last_grid)(unsigned *);

static void fill(float *to, long elements, unsigned seed, int sorted)
{
    float each = 1.0f / elements;
#pragma omp target teams distribute parallel for is_device_ptr(to)
    for (long i = 0; i < elements; i++) {
        unsigned hash = ((unsigned)i + seed) * 2654435761u;
        hash = (hash ^ hash >> 15) * 2246822519u;
        to[i] = sorted ? i * each - 0.5f : (float)(hash >> 8) / 16777216.0f - 0.5f;
    }
}

static void point_into(long range, int bijective)
{
    int *to = x;
    long elements = x_elements;
#pragma omp target teams distribute parallel for is_device_ptr(to)
    for (long i = 0; i < elements; i++) {
        unsigned hash = (unsigned)i * 2654435761u;
        hash = (hash ^ hash >> 15) * 2246822519u;
        // An odd factor permutes the numbers below a power of two.
        to[i] = (int)((bijective ? (unsigned)i * 2654435761u : hash ^ hash >> 13) % (unsigned long)range);
    }
}

static void poison(long elements)
{
    float *to = c;
#pragma omp target teams distribute parallel for is_device_ptr(to)
    for (long i = 0; i < elements; i++)
        to[i] = -12345.0f;
}

static unsigned long checksum(long elements)
{
    unsigned long sum = 0;
    const float *from = c;
#pragma omp target teams distribute parallel for is_device_ptr(from) reduction(+ : sum) map(tofrom : sum)
    for (long i = 0; i < elements; i++) {
        unsigned bits;
        memcpy(&bits, &from[i], sizeof bits);
        sum += (unsigned long)bits * ((unsigned long)i * 2 + 1);
    }
    return sum;
}

static struct case_ {
    char kernel[64];
    int n, m, k, sorted, bijective;
    long written, range;
    double best;
    unsigned long expected;
    int measured;
} now;

static double once(run_function *run, int teams)
{
    double sums[8], start = omp_get_wtime();
    if (begin)
        begin();
    run(now.n, now.m, now.k, a, b, x, c, teams);
    if (!begin)
        return 1e3 * (omp_get_wtime() - start);
    end(sums);
    return sums[0];
}

static const struct variant *find(int threads, int factor, int stride, char axis)
{
    for (const struct variant *one = VARIANTS; one->kernel; one++)
        if (strcmp(one->kernel, now.kernel) == 0 && one->threads == threads && one->factor == factor && one->stride == stride &&
            one->axis == axis)
            return one;
    fprintf(stderr, "no %s with %d threads, factor %d, stride %d, along %c\n", now.kernel, threads, factor, stride, axis);
    exit(1);
}

static void measure(int threads, int teams, int factor, int stride, char axis)
{
    run_function *run = find(threads, factor, stride, axis)->run;
    poison(now.written);
    double first = once(run, teams);
    unsigned grid[2] = {0, 0};
    if (last_grid)
        last_grid(grid);
    unsigned long sum = checksum(now.written);
    if (now.measured++ == 0)
        now.expected = sum;
    // Bad grids of long kernels are timed once: by how much they are bad does not matter.
    int launches = now.best > 0 && first > 8 * now.best && first > 1 ? 0 : LAUNCHES;
    double least = first;
    for (int i = 0; i < launches; i++) {
        double time = once(run, teams);
        if (i == 0 || time < least)
            least = time;
    }
    if (now.best == 0 || least < now.best)
        now.best = least;
    printf("%s,%d,%d,%d,%d,%d,%d,%d,%c,%u,%u,%.3f,%d,%s\n", now.kernel, now.n, now.m, now.k, threads, teams, factor, stride, axis, grid[0],
           grid[1], 1e3 * least, launches, sum == now.expected ? "same" : "WRONG");
}

static void begin_case(const struct case_ *next)
{
    if (next->sorted != now.sorted || !now.range)
        fill(b, b_elements, 12345, 0);
    now = *next;
    if (now.sorted)
        fill(b, now.m, 0, 1);
    point_into(now.range, now.bijective);
}

static void *device_memory(long elements, size_t size)
{
    void *memory = omp_target_alloc(elements * size, omp_get_default_device());
    if (!memory) {
        fprintf(stderr, "no memory on the device for %ld elements\n", elements);
        exit(1);
    }
    return memory;
}

static void allocate(long in, long of_b, long of_x, long out)
{
    in_elements = in, b_elements = of_b, x_elements = of_x, out_elements = out;
    a = device_memory(in, sizeof *a);
    b = device_memory(of_b, sizeof *b);
    x = device_memory(of_x, sizeof *x);
    c = device_memory(out, sizeof *c);
    fill(a, in_elements, 0, 0);
}

static void reallocate(long in, long of_b, long of_x, long out)
{
    int device = omp_get_default_device();
    if (in == in_elements && of_b == b_elements && of_x == x_elements && out == out_elements)
        return;
    omp_target_free(a, device);
    omp_target_free(b, device);
    omp_target_free(x, device);
    omp_target_free(c, device);
    allocate(in, of_b, of_x, out);
    now = (struct case_){0}; // b has no values yet
}

static void launch(int threads, int teams, int factor, int stride, char axis)
{
    find(threads, factor, stride, axis)->run(now.n, now.m, now.k, a, b, x, c, teams);
    printf("%s,%d,%d,%d,%d,%d,%d,%d,%c\n", now.kernel, now.n, now.m, now.k, threads, teams, factor, stride, axis);
    fflush(stdout);
}

static void start(const char *mode)
{
    int tiny = strcmp(mode, "tiny") == 0, profiled = strcmp(mode, "profiled") == 0;
    begin = (void (*)(void))dlsym(RTLD_DEFAULT, "device_trace_begin");
    end = (void (*)(double *))dlsym(RTLD_DEFAULT, "device_trace_end");
    last_grid = (void (*)(unsigned *))dlsym(RTLD_DEFAULT, "device_trace_last_grid");
    if ((begin == NULL) != (tiny || profiled)) {
        fprintf(stderr, "%s%s\n", begin ? "a clock of the device, but " : "no clock of the device", begin ? mode : "");
        exit(1);
    }
    if (tiny)
        allocate(1 << 21, 1 << 20, 1 << 20, 1 << 21);
    else if (!profiled)
        allocate(290L << 20, 1L << 27, 1L << 24, 1L << 28);
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "timed";
    int profiled = strcmp(mode, "profiled") == 0;
    double last = argc > 2 && atof(argv[2]) > 0 ? omp_get_wtime() + atof(argv[2]) : INFINITY;
    if (argc > 3 && !freopen(argv[3], "r", stdin)) {
        perror(argv[3]);
        return 1;
    }
    start(mode);
    char line[256], axis;
    struct case_ next = {0};
    int threads, teams, factor, stride;
    long in, of_b, of_x, out;
    while (fgets(line, sizeof line, stdin)) {
        if (omp_get_wtime() > last) {
            fprintf(stderr, "the time is over before: %s", line);
            break;
        }
        if (profiled && sscanf(line, "memory %ld %ld %ld %ld", &in, &of_b, &of_x, &out) == 4)
            reallocate(in, of_b, of_x, out);
        else if (sscanf(line, "case %63s %d %d %d %ld %ld %d %d", next.kernel, &next.n, &next.m, &next.k, &next.written, &next.range,
                        &next.sorted, &next.bijective) == 8)
            begin_case(&next);
        else if (sscanf(line, "point %d %d %d %d %c", &threads, &teams, &factor, &stride, &axis) == 5)
            (profiled ? launch : measure)(threads, teams, factor, stride, axis);
        else {
            fprintf(stderr, "not a line of a plan: %s", line);
            return 1;
        }
    }
    return 0;
}
