// Haar's wavelet transform of a signal (after the AMD samples), level by level: loops that get shorter and shorter.
#include "dwt_haar.h"
#include "program.h"

#include <math.h>

static int n;
static float *signal, *out, *scratch;
static double *left, *expected; // in double precision

static void allocate(const long *sizes)
{
    n = 1;
    while (2L * n <= sizes[0])
        n *= 2;
    signal = new_floats(n);
    out = new_floats(n);
    scratch = new_floats(n);
    left = new_doubles(n);
    expected = new_doubles(n);
}

static void prepare(void)
{
    fill_floats(signal, n, -1.0f, 1.0f);
    poison_floats(out, n);
    poison_floats(scratch, n);
}

static void run(void) { dwt_haar(n, signal, out, scratch); }

static void check(void)
{
    for (int i = 0; i < n; i++)
        left[i] = signal[i];
    for (int half = n / 2; half > 0; half /= 2)
        for (int i = 0; i < half; i++) {
            double a = left[2 * i], b = left[2 * i + 1];
            expected[half + i] = (a - b) * sqrt(0.5);
            left[i] = (a + b) * sqrt(0.5);
        }
    expected[0] = left[0];
    check_floats("out", out, expected, n, 1e-5);
}

static struct work work(void)
{
    return (struct work){
        .bytes_in = 4.0 * n, .bytes_out = 4.0 * n, .device_bytes = 2 * 4.0 * n, .operations = 4.0 * n};
}

const struct program program = {"dwt_haar", "n", allocate, prepare, run, check, work};
