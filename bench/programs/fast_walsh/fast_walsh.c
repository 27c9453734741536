// The fast Walsh-Hadamard transform (after the AMD samples): many sweeps over all values with another stride each.
#include "fast_walsh.h"
#include "program.h"

static int n;
static float *values, *before;
static double *expected; // in double precision

static void allocate(const long *sizes)
{
    n = 1;
    while (2L * n <= sizes[0])
        n *= 2;
    values = new_floats(n);
    before = new_floats(n);
    expected = new_doubles(n);
}

static void prepare(void)
{
    fill_floats(before, n, -1.0f, 1.0f);
#pragma omp parallel for
    for (int i = 0; i < n; i++)
        values[i] = before[i];
}

static void run(void) { fast_walsh(n, values); }

static void check(void)
{
#pragma omp parallel for
    for (int i = 0; i < n; i++)
        expected[i] = before[i];
    for (int step = 1; step < n; step *= 2) {
#pragma omp parallel for
        for (int pair = 0; pair < n / 2; pair++) {
            int first = pair / step * 2 * step + pair % step;
            double a = expected[first], b = expected[first + step];
            expected[first] = a + b;
            expected[first + step] = a - b;
        }
    }
    check_floats("values", values, expected, n, 1e-5);
}

static struct work work(void)
{
    return (struct work){.bytes_in = 4.0 * n, .bytes_out = 4.0 * n, .device_bytes = 2 * 4.0 * n};
}

const struct program program = {"fast_walsh", "n", allocate, prepare, run, check, work};
