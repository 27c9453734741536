// Times pipelines by hand and prints one line of comma-separated values for each.
//
// usage: pipeline [--only PROGRAM] [--smallest MIB] [--largest MIB] [--short] [--tasks]
//                                                       all programs and sizes; --short leaves out most forms,
//                                                       --tasks takes those with deferred `target update from` instead
//        pipeline --stress FORM SECONDS                        one form again and again, small, to see whether the runtime bears it
//        pipeline --timeline                                   when each copy and kernel ran, by the device's clock
//        pipeline --tiny                                       everything once, small, without a GPU, where it needs
//                                                              LIBOMP_USE_HIDDEN_HELPER_TASK=0
//
// Times are wall-clock times of one call, from host memory to host memory, medians after one call to warm up. Where memory is
// `registered`, pinning and unpinning are part of them. Each result is compared with that of the loop without a pipeline.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <execinfo.h>
#include <signal.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ompsplit_pin.h"
#include "programs.h"

extern void *llvm_omp_target_alloc_host(size_t, int);

enum memory { PAGEABLE, REGISTERED, REGISTERED_IN, STEPWISE, PINNED };
static const char *const MEMORY[] = {"pageable", "registered", "registered_in", "stepwise", "pinned"};
static const char *const FORM[] = {"naive", "piped", "windowed", "fused", "updated", "present", "threads", "threaded_window"};
enum { BUFFERS = 3, MOST_REPEATS = 7 };

typedef void run_program(const struct how *, const struct data *);
struct program {
    const char *name;
    run_program *run;
    int work, square, streams_in, streams_out, windows;
    long largest; // MiB of one array above which it is left out
};
static const struct program PROGRAMS[] = {
    {"stream_1", stream, 1, 0, 1, 1, 1, 1024},     {"stream_200", stream, 200, 0, 1, 1, 1, 1024},
    {"stream_2000", stream, 2000, 0, 1, 1, 1, 1024}, {"in_only", in_only, 0, 0, 1, 0, 0, 1024},
    {"out_only", out_only, 1, 0, 0, 1, 0, 1024},   {"gesummv", gesummv, 0, 1, 2, 0, 1, 1024},
    {"atax", atax, 0, 1, 1, 0, 0, 1024},           {"conv", conv, 0, 1, 1, 1, 0, 1024},
    {"gemm", gemm, 0, 1, 1, 1, 0, 64},
};
enum { PROGRAM_COUNT = sizeof PROGRAMS / sizeof *PROGRAMS };

static float *pageable[BUFFERS], *pinned[BUFFERS], *whole, *expected;
static size_t buffer_bytes, whole_bytes;
static int tiny;
static const void *stepwise_start[3 * MOST_TILES];
static int stepwise_count;
static double pin_ms, unpin_ms;

static double now(void)
{
    return omp_get_wtime() * 1e3;
}

void pin_tile(const struct how *how, const void *start, size_t bytes)
{
    if (!how->stepwise)
        return;
    int index;
    const double begin = now();
    (void)ompsplit_pin(start, bytes);
    const double took = now() - begin;
#pragma omp atomic
    pin_ms += took;
#pragma omp atomic capture
    index = stepwise_count++;
    stepwise_start[index] = start;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

// One call with all that its memory asks for.
static double timed(const struct program *program, const struct how *how, const struct data *data, enum memory memory,
                    size_t bytes)
{
    const void *pins[3];
    int pin_count = 0;
    if (program->streams_in > 0)
        pins[pin_count++] = data->first;
    if (program->streams_in > 1)
        pins[pin_count++] = data->second;
    if (program->streams_out > 0 && memory != REGISTERED_IN)
        pins[pin_count++] = data->out;
    pin_ms = unpin_ms = 0;
    stepwise_count = 0;
    const double begin = now();
    if (memory == REGISTERED || memory == REGISTERED_IN) {
        for (int i = 0; i < pin_count; i++)
            if (ompsplit_pin(pins[i], bytes))
                fprintf(stderr, "pipeline: memory cannot be pinned\n");
        pin_ms = now() - begin;
    }
    if (tiny && how->form < THREADS) {
        // On the CPU the hidden helper threads of LLVM 19 crash beside kernels that are threads of the same runtime; without
        // them (LIBOMP_USE_HIDDEN_HELPER_TASK=0) it is the threads of a team that run deferred tasks at the same time.
#pragma omp parallel num_threads(4)
#pragma omp single
        program->run(how, data);
    } else {
        program->run(how, data);
    }
    const double middle = now();
    if (memory == REGISTERED || memory == REGISTERED_IN)
        for (int i = 0; i < pin_count; i++)
            (void)ompsplit_unpin(pins[i]);
    for (int i = 0; i < stepwise_count; i++)
        (void)ompsplit_unpin(stepwise_start[i]);
    const double end = now();
    unpin_ms = end - middle;
    return end - begin;
}

static struct data data_of(const struct program *program, long n, enum memory memory)
{
    float *const *buffers = memory == PINNED ? pinned : pageable;
    return (struct data){n, program->work, buffers[0], buffers[1], whole, buffers[2]};
}

// The bytes of one array, of the results that are compared, and where those are.
static size_t array_bytes(const struct program *program, long n)
{
    return (size_t)(program->square ? n * n : n) * sizeof(float);
}

static float *result(const struct program *program, const struct data *data, size_t *bytes)
{
    const long n = data->n;
    if (program->streams_out > 0) {
        const long skipped = program->run == conv ? n : 0;
        *bytes = array_bytes(program, n) - 2 * (size_t)skipped * sizeof(float);
        return data->out + skipped;
    }
    *bytes = (size_t)(program->square ? n : n / ROW) * sizeof(float);
    return program->square ? whole + n : whole;
}

static int failures;
enum { CHUNK = 1 << 20 };

static void spoil(float *memory, size_t bytes)
{
#pragma omp parallel for
    for (size_t at = 0; at < bytes; at += CHUNK)
        memset((char *)memory + at, 255, bytes - at < CHUNK ? bytes - at : CHUNK);
}

static int is_expected(const float *memory, size_t bytes)
{
    int different = 0;
#pragma omp parallel for reduction(|| : different)
    for (size_t at = 0; at < bytes; at += CHUNK)
        different = different || memcmp((const char *)expected + at, (const char *)memory + at,
                                        bytes - at < CHUNK ? bytes - at : CHUNK) != 0;
    return !different;
}

static void measure(const struct program *program, long n, struct how how, enum memory memory)
{
    how.stepwise = memory == STEPWISE;
    const struct data data = data_of(program, n, memory);
    const size_t bytes = array_bytes(program, n);
    size_t result_bytes;
    float *const out = result(program, &data, &result_bytes);
    spoil(out, result_bytes);
    const double first = timed(program, &how, &data, memory, bytes);
    const int reference = how.form == NAIVE && memory == PAGEABLE;
    if (reference)
        memcpy(expected, out, result_bytes);
    const int right = is_expected(out, result_bytes);
    failures += !right;
    double times[MOST_REPEATS], pins[MOST_REPEATS], unpins[MOST_REPEATS];
    int repeats = tiny ? 1 : first < 30 ? MOST_REPEATS : first < 120 ? 5 : 3;
    for (int i = 0; i < repeats; i++) {
        times[i] = timed(program, &how, &data, memory, bytes);
        pins[i] = pin_ms;
        unpins[i] = unpin_ms;
    }
    qsort(times, (size_t)repeats, sizeof *times, by_value);
    qsort(pins, (size_t)repeats, sizeof *pins, by_value);
    qsort(unpins, (size_t)repeats, sizeof *unpins, by_value);
    const char *const extra = how.taskgroup ? "taskgroup" : how.chained ? "chained" : how.separate ? "separate" : "";
    printf("%s,%ld,%zu,%s,%s,%s,%d,%d,%.4f,%.4f,%.4f,%.4f,%.4f,%s\n", program->name, n, bytes, MEMORY[memory],
           FORM[how.form], extra, how.form == NAIVE ? 1 : how.tiles, how.window, times[repeats / 2], times[0],
           times[repeats - 1], pins[repeats / 2], unpins[repeats / 2], right ? "ok" : "WRONG");
    fflush(stdout);
}

// Forms whose deferred copies out LLVM 19 does not always survive (README.md).
static void measure_tasks(const struct program *program, long n, int is_short)
{
    struct how how = {.form = PIPED, .window = 4};
    for (how.tiles = 2; how.tiles <= 32; how.tiles *= 2)
        measure(program, n, how, PINNED);
    if (is_short)
        return;
    for (how.tiles = 2; how.tiles <= 32; how.tiles *= 2)
        measure(program, n, how, REGISTERED);
    how.tiles = 8;
    measure(program, n, how, PAGEABLE);
    if (program->run != conv)
        measure(program, n, how, STEPWISE);
    how.taskgroup = 1;
    measure(program, n, how, PINNED);
    how.taskgroup = 0, how.chained = 1;
    if (program->run == stream || program->run == in_only || program->run == gemm)
        measure(program, n, how, PINNED);
    how.chained = 0, how.separate = 1;
    if (program->run == gesummv)
        measure(program, n, how, PINNED);
}

// Forms without `target update from`.
static void measure_maps(const struct program *program, long n, int is_short)
{
    struct how how = {.form = THREADS, .window = 4};
    for (how.tiles = 2; how.tiles <= 64; how.tiles *= 2)
        measure(program, n, how, PINNED);
    how.tiles = 16;
    for (how.window = 2; how.window <= 8; how.window++)
        if (how.window != 4 && how.window != 5 && how.window != 7)
            measure(program, n, how, PINNED);
    how.window = 4;
    if (!is_short) {
        for (how.tiles = 4; how.tiles <= 32; how.tiles *= 2)
            measure(program, n, how, REGISTERED);
        how.tiles = 16;
        if (program->run != conv && program->run != gemm && program->run != atax)
            measure(program, n, how, STEPWISE);
        measure(program, n, how, PAGEABLE);
        if (program->streams_in && program->streams_out)
            measure(program, n, how, REGISTERED_IN);
        how.chained = 1;
        if (program->run == stream)
            measure(program, n, how, PINNED);
        how.chained = 0;
    }
    for (how.form = FUSED; program->windows && how.form <= THREADED_WINDOW; how.form++) {
        if (how.form == THREADS || (how.form < THREADS && how.form > FUSED && program->run != stream))
            continue;
        for (how.window = 2; how.window <= 8; how.window *= 2) {
            if (how.form == UPDATED && how.window > 2)
                continue;
            how.tiles = 16;
            measure(program, n, how, PINNED);
            if (!is_short && how.window == 4)
                measure(program, n, how, REGISTERED);
            how.tiles = 32;
            if (!is_short && how.window == 8)
                measure(program, n, how, PINNED);
        }
    }
    how.form = WINDOWED, how.tiles = 16;
    for (how.window = 2; program->windows && how.window <= 8; how.window *= 2)
        measure(program, n, how, PINNED);
}

// All forms of a program at one size.
static void measure_all(const struct program *program, long n, int is_short, int tasks)
{
    struct how how = {.form = NAIVE};
    measure(program, n, how, PAGEABLE);
    if (!is_short)
        measure(program, n, how, REGISTERED);
    measure(program, n, how, PINNED);
    if (tasks)
        measure_tasks(program, n, is_short);
    else
        measure_maps(program, n, is_short);
}

static void *fresh(size_t bytes)
{
    void *memory = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
    if (!memory) {
        fprintf(stderr, "pipeline: not enough memory\n");
        exit(2);
    }
    memset(memory, 0, bytes);
    return memory;
}

static void fill(float *to, size_t bytes)
{
#pragma omp parallel for
    for (size_t i = 0; i < bytes / sizeof *to; i++)
        to[i] = (float)((i * 2654435761u >> 7) % 1000) * 1e-3f - 0.5f;
}

static void allocate(long largest_mib)
{
    buffer_bytes = (size_t)largest_mib << 20;
    whole_bytes = buffer_bytes / ROW + (1 << 22);
    whole = fresh(whole_bytes);
    fill(whole, whole_bytes);
    expected = fresh(buffer_bytes);
    for (int i = 0; i < BUFFERS; i++) {
        pageable[i] = fresh(buffer_bytes);
        const double begin = now();
        pinned[i] = llvm_omp_target_alloc_host(buffer_bytes, 0);
        fprintf(stderr, "pinned allocation of %ld MiB: %.1f ms\n", largest_mib, now() - begin);
        if (i < 2)
            fill(pageable[i], buffer_bytes);
        memcpy(pinned[i], pageable[i], buffer_bytes);
    }
}

// When each operation of one call began and ended.
static void timeline(const struct program *program, long n, struct how how)
{
    void (*begin)(void), (*end)(double *);
    int (*operation)(int, double *);
    void *symbols[3] = {dlsym(RTLD_DEFAULT, "device_trace_begin"), dlsym(RTLD_DEFAULT, "device_trace_end"),
                        dlsym(RTLD_DEFAULT, "device_trace_operation")};
    if (!symbols[0] || !symbols[1] || !symbols[2]) {
        fprintf(stderr, "pipeline: the tracer does not stand before the driver\n");
        exit(2);
    }
    memcpy(&begin, &symbols[0], sizeof begin);
    memcpy(&end, &symbols[1], sizeof end);
    memcpy(&operation, &symbols[2], sizeof operation);
    const struct data data = data_of(program, n, PINNED);
    double sums[8], values[3];
    for (int warm = 0; warm < 2; warm++) {
        begin();
        program->run(&how, &data);
        end(sums);
    }
    for (int i = 0; operation(i, values); i++)
        printf("%s,%ld,%s,%d,%d,%s,%.4f,%.4f\n", program->name, n, FORM[how.form], how.tiles, how.window,
               values[0] == 0 ? "kernel" : values[0] == 1 ? "to" : "from", values[1], values[2]);
}

static void timelines(void)
{
    allocate(256);
    printf("program,n,form,tiles,window,operation,begin_ms,end_ms\n");
    const struct how naive = {.form = NAIVE, .tiles = 1}, piped = {.form = PIPED, .tiles = 8},
                     windowed = {.form = WINDOWED, .tiles = 16, .window = 4},
                     fused = {.form = FUSED, .tiles = 16, .window = 4};
    const struct how threads = {.form = THREADS, .tiles = 16, .window = 4};
    timeline(&PROGRAMS[2], 1L << 26, naive);
    timeline(&PROGRAMS[2], 1L << 26, threads);
    timeline(&PROGRAMS[7], 8192, threads);
    timeline(&PROGRAMS[2], 1L << 26, piped);
    timeline(&PROGRAMS[2], 1L << 26, windowed);
    timeline(&PROGRAMS[2], 1L << 26, fused);
    timeline(&PROGRAMS[5], 8192, piped);
    timeline(&PROGRAMS[7], 8192, piped);
}

static void where(int signal)
{
    void *frames[40];
    (void)!write(2, "crash\n", 6);
    backtrace_symbols_fd(frames, backtrace(frames, 40), 2);
    _exit(128 + signal);
}

// Runs one form of the first program until the time is over.
static void stress(const char *name, double seconds)
{
    signal(SIGSEGV, where);
    signal(SIGABRT, where);
    allocate(1);
    struct how how = {.form = PIPED, .tiles = 32, .window = 4};
    for (int form = PIPED; form <= THREADED_WINDOW; form++)
        if (strcmp(FORM[form], name) == 0)
            how.form = form;
    how.taskgroup = strcmp(name, "taskgroup") == 0;
    const int parallel = strcmp(name, "parallel") == 0;
    const double begin = now();
    long calls = 0;
    setvbuf(stdout, NULL, _IOLBF, 0);
    while (now() - begin < seconds * 1e3) {
        const struct data data = data_of(&PROGRAMS[0], 1L << 16, calls % 2 ? PINNED : PAGEABLE);
#pragma omp parallel num_threads(2) if (parallel)
#pragma omp single
        PROGRAMS[0].run(&how, &data);
        if (++calls % 200 == 0)
            printf("stress %s: %ld calls\r", name, calls);
    }
    printf("stress %s: %ld calls of %d tiles in %.0f s\n", name, calls, how.tiles, seconds);
}

int main(int argc, char **argv)
{
    static const long MIB[] = {1, 4, 16, 64, 256, 1024};
    long largest = 1024;
    int is_short = 0, tasks = 0;
    long smallest = 1;
    const char *only = NULL;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--tiny") == 0)
            tiny = 1, largest = 1;
        else if (strcmp(argv[i], "--short") == 0)
            is_short = 1;
        else if (strcmp(argv[i], "--tasks") == 0)
            tasks = 1;
        else if (strcmp(argv[i], "--timeline") == 0)
            return timelines(), 0;
        else if (i + 1 < argc && strcmp(argv[i], "--only") == 0)
            only = argv[++i];
        else if (i + 1 < argc && strcmp(argv[i], "--largest") == 0)
            largest = atol(argv[++i]);
        else if (i + 1 < argc && strcmp(argv[i], "--smallest") == 0)
            smallest = atol(argv[++i]);
        else if (i + 2 < argc && strcmp(argv[i], "--stress") == 0)
            return stress(argv[i + 1], atof(argv[i + 2])), 0;
        else
            return fprintf(stderr, "pipeline: what is `%s`?\n", argv[i]), 2;
    }
    allocate(largest);
    printf("program,n,array_bytes,memory,form,extra,tiles,window,median_ms,min_ms,max_ms,pin_ms,unpin_ms,check\n");
    for (size_t size = 0; size < sizeof MIB / sizeof *MIB && MIB[size] <= largest; size++) {
        for (int i = 0; i < PROGRAM_COUNT; i++) {
            const struct program *program = &PROGRAMS[i];
            long n = MIB[size] << 18;
            if (program->square)
                n = 512L << size;
            if (tiny)
                n = program->square ? 67 : 70000;
            if (MIB[size] >= smallest && (!only || strcmp(program->name, only) == 0) && MIB[size] <= program->largest)
                measure_all(program, n, is_short, tasks);
        }
    }
    if (failures)
        fprintf(stderr, "pipeline: %d wrong results\n", failures);
    return failures != 0;
}
