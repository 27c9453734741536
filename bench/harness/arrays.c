// Arrays, random inputs and tunables.
#include "harness.h"
#include "program.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// LLVM's page-locked host memory.
extern void *llvm_omp_target_alloc_host(size_t bytes, int device) __attribute__((weak));
extern void llvm_omp_target_free_host(void *memory, int device) __attribute__((weak));

enum { MOST_ARRAYS = 64, MOST_TUNABLES = 32 };

typedef uint32_t __attribute__((may_alias)) bits; // of a float or an int

static struct {
    void *memory;
    int pinned;
    size_t count; // of the floats or ints in it; 0 of the host's doubles and of scratch
    uint64_t noted;
} arrays[MOST_ARRAYS];
static int array_count;
static int pinning;

void pin_arrays(int pinned) { pinning = pinned; }

void release_arrays(void)
{
    for (int i = 0; i < array_count; i++) {
        if (arrays[i].pinned)
            llvm_omp_target_free_host(arrays[i].memory, omp_get_default_device());
        else
            free(arrays[i].memory);
    }
    array_count = 0;
}

static void *new_array(size_t bytes, size_t count)
{
    if (bytes == 0)
        bytes = 1;
    int pinned = pinning && llvm_omp_target_alloc_host && llvm_omp_target_free_host;
    void *memory = pinned ? llvm_omp_target_alloc_host(bytes, omp_get_default_device()) : malloc(bytes);
    if (!memory || array_count == MOST_ARRAYS) {
        fprintf(stderr, "no memory for an array of %zu bytes\n", bytes);
        exit(2);
    }
    arrays[array_count].memory = memory;
    arrays[array_count].count = count;
    arrays[array_count++].pinned = pinned;
    return memory;
}

float *new_floats(size_t count) { return new_array(count * sizeof(float), count); }
double *new_doubles(size_t count) { return new_array(count * sizeof(double), 0); }
int *new_ints(size_t count) { return new_array(count * sizeof(int), count); }

void no_result(const void *array)
{
    for (int i = 0; i < array_count; i++)
        if (arrays[i].memory == array)
            arrays[i].count = 0;
}

static uint64_t stream;

// The finaliser of splitmix64: turns a counter into a random number.
static uint64_t mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

// A number that every bit of an array changes.
static uint64_t number_of(int array)
{
    const bits *values = arrays[array].memory;
    uint64_t sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (size_t i = 0; i < arrays[array].count; i++)
        sum += mix((uint64_t)values[i] << 32 ^ i);
    return sum;
}

void note_arrays(void)
{
    for (int i = 0; i < array_count; i++)
        arrays[i].noted = number_of(i);
}

void print_changes(void)
{
    for (int i = 0; i < array_count; i++) {
        uint64_t now = number_of(i);
        if (now == arrays[i].noted)
            printf(" -");
        else
            printf(" %016" PRIx64, now);
    }
}

void seed_inputs(uint64_t seed) { stream = mix(seed); }

void fill_floats(float *values, size_t count, float low, float high)
{
    uint64_t key = stream = mix(stream);
    float scale = (high - low) / 16777216.0f; // 2^24 steps: each is a float
#pragma omp parallel for
    for (size_t i = 0; i < count; i++)
        values[i] = low + (float)(mix(key + i) >> 40) * scale;
}

void fill_ints(int *values, size_t count, int low, int high)
{
    uint64_t key = stream = mix(stream);
    uint64_t range = (uint64_t)((int64_t)high - low) + 1;
#pragma omp parallel for
    for (size_t i = 0; i < count; i++)
        values[i] = (int)(low + (int64_t)((mix(key + i) >> 16) % range));
}

void poison_floats(float *values, size_t count)
{
#pragma omp parallel for
    for (size_t i = 0; i < count; i++)
        values[i] = NAN;
}

void poison_ints(int *values, size_t count)
{
#pragma omp parallel for
    for (size_t i = 0; i < count; i++)
        values[i] = INT_MIN;
}

static struct {
    char name[24];
    int value;
} tunables[MOST_TUNABLES];
static int tunable_count;

void set_tunable(const char *name, int value)
{
    int i = 0;
    while (i < tunable_count && strcmp(tunables[i].name, name))
        i++;
    if (i == MOST_TUNABLES)
        return;
    snprintf(tunables[i].name, sizeof tunables[i].name, "%s", name);
    tunables[i].value = value;
    if (i == tunable_count)
        tunable_count++;
}

int tunable(const char *name, int value)
{
    for (int i = 0; i < tunable_count; i++)
        if (!strcmp(tunables[i].name, name))
            return tunables[i].value;
    return value;
}
