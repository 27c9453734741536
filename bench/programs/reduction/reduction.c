// Sum and maximum norm of a large vector.
#include "reduction.h"
#include "program.h"

#include <math.h>

static int n;
static float *x;
static double sum;
static float largest;

static void allocate(const long *sizes)
{
    n = (int)sizes[0];
    x = new_floats(n);
}

// The largest value is a negative one in a random place.
static void prepare(void)
{
    int place;
    fill_floats(x, n, -1.0f, 0.5f);
    fill_ints(&place, 1, 0, n - 1);
    x[place] = -2.0f;
    sum = NAN;
    largest = NAN;
}

static void run(void) { reduction(n, x, &sum, &largest); }

static void check(void)
{
    double expected_sum = 0, expected_largest = 0;
#pragma omp parallel for reduction(+ : expected_sum) reduction(max : expected_largest)
    for (int i = 0; i < n; i++) {
        expected_sum += x[i];
        double size = fabs(x[i]);
        if (size > expected_largest)
            expected_largest = size;
    }
    check_float("sum", sum, expected_sum, 1e-10);
    check_float("largest", largest, expected_largest, 0);
}

static struct work work(void)
{
    double bytes = 4.0 * n;
    return (struct work){.bytes_in = bytes, .bytes_out = 12, .device_bytes = bytes, .operations = 2.0 * n};
}

const struct program program = {"reduction", "n", allocate, prepare, run, check, work};
