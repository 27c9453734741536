// What a program of the suite is made of, and what the harness gives it.
//
// A program is one driver (`programs/NAME/NAME.c`, host code: inputs, reference, check) and several variants of the
// measured function (`naive.c`, `teams.c`, `ceiling.c`), of which each binary links one.
#ifndef PROGRAM_H
#define PROGRAM_H

#include <stddef.h>
#include <stdint.h>

// The least that one run must move and compute, whatever the variant; 0 where no simple number exists.
struct work {
    double bytes_in;     // host to device
    double bytes_out;    // device to host
    double device_bytes; // device memory read and written
    double operations;   // single-precision operations; a fused multiply-add counts two
};

struct program {
    const char *name;
    const char *sizes;            // the names of the numbers on the command line, separated by blanks
    void (*allocate)(const long *sizes);
    void (*prepare)(void);        // fresh random inputs; every output is poisoned
    void (*run)(void);            // what is timed: host memory to host memory
    void (*check)(void);          // compares the outputs with the host's own by the functions below
    struct work (*work)(void);
};

extern const struct program program;

// Arrays of the program. They live until the next `allocate`; pinned where the case asks for it. Results are floats or
// ints, whose bits are compared between variants; doubles are the host's references.
float *new_floats(size_t count);
double *new_doubles(size_t count);
int *new_ints(size_t count);

// Random values for the current seed: the same whatever the number of threads, different for each call.
void fill_floats(float *values, size_t count, float low, float high);
void fill_ints(int *values, size_t count, int low, int high); // low and high included

// Says of an array that it holds no result: its contents may differ between variants.
void no_result(const void *array);

// Values that no correct run leaves behind (NaN, INT_MIN): an output that is not written is seen.
void poison_floats(float *values, size_t count);
void poison_ints(int *values, size_t count);

// Each check names what it looks at and fails the run when it does not hold. `tolerance` is relative to the largest
// magnitude among the expected values; NaN never passes.
void check_floats(const char *what, const float *actual, const double *expected, size_t count, double tolerance);
void check_float(const char *what, double actual, double expected, double tolerance);
void check_ints(const char *what, const int *actual, const int *expected, size_t count);

// References on the host, in double precision, for a row-major m [rows][columns]: out = m x and out = m^T x.
void host_multiply(const float *m, const double *x, double *out, size_t rows, size_t columns);
void host_multiply_transposed(const float *m, const double *x, double *out, size_t rows, size_t columns);

// Whether c = a b for row-major a [rows][inner], b [inner][columns], c [rows][columns], by Freivalds' method: both
// sides times one random vector, in double precision. It sees any wrong element, in time of one pass over the matrices.
void check_product(const char *what, const float *a, const float *b, const float *c, size_t rows, size_t inner,
                   size_t columns, double tolerance);

// A number that a hand-tuned variant may be tried with: `value` unless the runner was told `set NAME NUMBER`. The tunable
// "pinned" tells whether the arrays are page-locked.
int tunable(const char *name, int value);

#endif
