// The main program of every binary of the suite.
//
// By hand: `atax-naive 4096 4096 [NAME=NUMBER ..]` prepares, runs and checks once and prints the time.
// For the runner: `atax-naive --serve` obeys one command a line on standard input and answers each with one line:
//
//   setup [pinned] SIZES..  -> ready BYTES_IN BYTES_OUT DEVICE_BYTES OPERATIONS
//   set NAME NUMBER         -> ready                      a tunable of hand-tuned variants
//   prepare SEED            -> ready                      fresh inputs
//   time                    -> time SECONDS               one run
//   trace                   -> trace SECONDS KERNEL_MS KERNELS TO_MS TO_BYTES TO_COPIES FROM_MS FROM_BYTES FROM_COPIES
//                              the same with the device's own clock around each operation; only SECONDS without a tracer
//   inspect                 -> time SECONDS BITS..        one run whose launches and copies libomptarget logs to
//                              standard error, between the lines `inspect begin` and `inspect end`; for each array of
//                              floats or ints a number of its bits, or `-` where the run did not change it
//   check                   -> pass ERROR | fail TEXT     against the host
#define _GNU_SOURCE
#include "harness.h"
#include "program.h"

#include <dlfcn.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Flags of LIBOMPTARGET_INFO: kernel launches and data transfers.
enum { INFO_KERNELS = 0x10, INFO_TRANSFERS = 0x20 };

extern void __tgt_set_info_flag(uint32_t level) __attribute__((weak));

// Starts the device, so that no measured run pays for it.
static void start_device(void)
{
    int device = omp_get_default_device();
    void *memory = omp_target_alloc(64, device);
    omp_target_free(memory, device);
}

// Brings the device back to this process: other variants ran on it since, and the first kernel of another process waits
// for that change.
static void wake_device(void)
{
#pragma omp target teams distribute parallel for
    for (int i = 0; i < 1; i++) {
    }
}

static double plain_run(void)
{
    double start = omp_get_wtime();
    program.run();
    return omp_get_wtime() - start;
}

static double timed_run(void)
{
    wake_device();
    return plain_run();
}

static int count_sizes(void)
{
    int count = 0;
    for (const char *c = program.sizes; *c; c++)
        count += *c != ' ' && (c == program.sizes || c[-1] == ' ');
    return count;
}

// Reads the sizes from words and allocates; gives how many words were read, or -1.
static int setup(char **words, int count)
{
    long sizes[16];
    int wanted = count_sizes();
    if (count < wanted)
        return -1;
    for (int i = 0; i < wanted; i++) {
        char *end;
        sizes[i] = strtol(words[i], &end, 10);
        if (*end || sizes[i] <= 0)
            return -1;
    }
    release_arrays();
    program.allocate(sizes);
    return wanted;
}

static void answer_trace(void)
{
    void (*begin)(void) = (void (*)(void))dlsym(RTLD_DEFAULT, "device_trace_begin");
    void (*end)(double *) = (void (*)(double *))dlsym(RTLD_DEFAULT, "device_trace_end");
    if (!begin || !end) {
        printf("trace %.9f\n", timed_run());
        return;
    }
    double sums[8];
    wake_device();
    begin();
    double seconds = plain_run();
    end(sums);
    printf("trace %.9f %.6f %.0f %.6f %.0f %.0f %.6f %.0f %.0f\n", seconds, sums[0], sums[1], sums[2], sums[3], sums[4],
           sums[5], sums[6], sums[7]);
}

static void answer_inspect(void)
{
    note_arrays();
    wake_device();
    fprintf(stderr, "inspect begin\n");
    if (__tgt_set_info_flag)
        __tgt_set_info_flag(INFO_KERNELS | INFO_TRANSFERS);
    double seconds = plain_run();
    if (__tgt_set_info_flag)
        __tgt_set_info_flag(0);
    fprintf(stderr, "inspect end\n");
    fflush(stderr);
    printf("time %.9f", seconds);
    print_changes();
    printf("\n");
}

static void answer_check(void)
{
    begin_checks();
    program.check();
    const char *failure = first_failure();
    if (failure)
        printf("fail %s\n", failure);
    else
        printf("pass %.3e\n", largest_error());
}

static void answer(char *line)
{
    char *words[32];
    int count = 0;
    for (char *word = strtok(line, " \n"); word && count < 32; word = strtok(NULL, " \n"))
        words[count++] = word;
    const char *command = count ? words[0] : "";
    if (!strcmp(command, "setup") && count > 1) {
        int pinned = !strcmp(words[1], "pinned");
        pin_arrays(pinned);
        set_tunable("pinned", pinned);
        if (setup(words + 1 + pinned, count - 1 - pinned) < 0) {
            printf("fail sizes: %s\n", program.sizes);
            return;
        }
        struct work work = program.work();
        printf("ready %.0f %.0f %.0f %.0f\n", work.bytes_in, work.bytes_out, work.device_bytes, work.operations);
    } else if (!strcmp(command, "set") && count == 3) {
        set_tunable(words[1], atoi(words[2]));
        printf("ready\n");
    } else if (!strcmp(command, "prepare") && count == 2) {
        seed_inputs(strtoull(words[1], NULL, 10));
        program.prepare();
        printf("ready\n");
    } else if (!strcmp(command, "time")) {
        printf("time %.9f\n", timed_run());
    } else if (!strcmp(command, "trace")) {
        answer_trace();
    } else if (!strcmp(command, "inspect")) {
        answer_inspect();
    } else if (!strcmp(command, "check")) {
        answer_check();
    } else {
        printf("fail unknown command %s\n", command);
    }
}

static int serve(void)
{
    char line[512];
    start_device();
    while (fgets(line, sizeof line, stdin)) {
        answer(line);
        fflush(stdout);
    }
    return 0;
}

static int run_once(int count, char **words)
{
    int read = setup(words, count);
    if (read < 0) {
        fprintf(stderr, "usage: %s SIZES [NAME=NUMBER ..], sizes: %s\n", program.name, program.sizes);
        return 2;
    }
    for (int i = read; i < count; i++) {
        char *equals = strchr(words[i], '=');
        if (!equals)
            continue;
        *equals = 0;
        set_tunable(words[i], atoi(equals + 1));
    }
    start_device();
    seed_inputs(1);
    program.prepare();
    double seconds = timed_run();
    begin_checks();
    program.check();
    const char *failure = first_failure();
    if (failure) {
        fprintf(stderr, "%s: %s\n", program.name, failure);
        return 1;
    }
    printf("%s: %.3f ms, largest error %.1e\n", program.name, seconds * 1e3, largest_error());
    return 0;
}

int main(int count, char **words)
{
    if (count == 2 && !strcmp(words[1], "--serve"))
        return serve();
    return run_once(count - 1, words + 1);
}
