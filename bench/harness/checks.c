// Comparisons of a run's outputs with the host's.
#include "harness.h"
#include "program.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static char failure[256];
static int failed;
static double error;

void begin_checks(void)
{
    failed = 0;
    error = 0;
}

const char *first_failure(void) { return failed ? failure : NULL; }
double largest_error(void) { return error; }

// One deviation, in units of the tolerance's scale.
static void judge(const char *what, size_t index, double actual, double expected, double deviation, double tolerance)
{
    if (deviation > error)
        error = deviation;
    if (deviation <= tolerance || failed) // a NaN is not <= anything
        return;
    failed = 1;
    snprintf(failure, sizeof failure, "%s[%zu] is %.9g, expected %.9g", what, index, actual, expected);
}

void check_floats(const char *what, const float *actual, const double *expected, size_t count, double tolerance)
{
    double scale = 0, worst = 0;
    size_t worst_index = 0;
    for (size_t i = 0; i < count; i++)
        scale = fmax(scale, fabs(expected[i]));
    if (scale == 0)
        scale = 1;
    for (size_t i = 0; i < count; i++) {
        double deviation = fabs(actual[i] - expected[i]) / scale;
        if (!(deviation <= worst)) {
            worst = deviation;
            worst_index = i;
            if (isnan(deviation))
                break;
        }
    }
    if (count)
        judge(what, worst_index, actual[worst_index], expected[worst_index], worst, tolerance);
}

void check_float(const char *what, double actual, double expected, double tolerance)
{
    double scale = expected == 0 ? 1 : fabs(expected);
    judge(what, 0, actual, expected, fabs(actual - expected) / scale, tolerance);
}

void check_ints(const char *what, const int *actual, const int *expected, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (actual[i] != expected[i]) {
            judge(what, i, actual[i], expected[i], INFINITY, 0);
            return;
        }
    }
}

void host_multiply(const float *m, const double *x, double *out, size_t rows, size_t columns)
{
#pragma omp parallel for
    for (size_t i = 0; i < rows; i++) {
        double sum = 0;
        for (size_t j = 0; j < columns; j++)
            sum += m[i * columns + j] * x[j];
        out[i] = sum;
    }
}

void host_multiply_transposed(const float *m, const double *x, double *out, size_t rows, size_t columns)
{
    enum { BLOCK = 64 }; // columns that one thread sums at a time
#pragma omp parallel for
    for (size_t first = 0; first < columns; first += BLOCK) {
        size_t end = first + BLOCK < columns ? first + BLOCK : columns;
        for (size_t j = first; j < end; j++)
            out[j] = 0;
        for (size_t i = 0; i < rows; i++)
            for (size_t j = first; j < end; j++)
                out[j] += m[i * columns + j] * x[i];
    }
}

void check_product(const char *what, const float *a, const float *b, const float *c, size_t rows, size_t inner,
                   size_t columns, double tolerance)
{
    float *random = malloc(columns * sizeof *random);
    double *x = malloc(columns * sizeof *x);
    double *bx = malloc(inner * sizeof *bx);
    double *abx = malloc(rows * sizeof *abx);
    double *cx = malloc(rows * sizeof *cx);
    fill_floats(random, columns, -1.0f, 1.0f);
    for (size_t j = 0; j < columns; j++)
        x[j] = random[j];
    host_multiply(b, x, bx, inner, columns);
    host_multiply(a, bx, abx, rows, inner);
    host_multiply(c, x, cx, rows, columns);
    double scale = 0;
    for (size_t i = 0; i < rows; i++)
        scale = fmax(scale, fabs(abx[i]));
    for (size_t i = 0; i < rows; i++)
        judge(what, i, cx[i], abx[i], fabs(cx[i] - abx[i]) / scale, tolerance);
    free(random);
    free(x);
    free(bx);
    free(abx);
    free(cx);
}
