// A chain of target regions with a little host code between them, as programs grow that are moved to the device piece
// by piece.
#include "chain.h"
#include "program.h"

#include <math.h>

static int n;
static float *signal, *smooth, *detail, *slope, *result;
static double *expected_smooth, *expected_result;

static void allocate(const long *sizes)
{
    n = (int)sizes[0] < 3 ? 3 : (int)sizes[0];
    signal = new_floats(n);
    smooth = new_floats(n);
    detail = new_floats(n);
    slope = new_floats(n);
    result = new_floats(n);
    no_result(smooth);
    no_result(detail);
    no_result(slope);
    expected_smooth = new_doubles(n);
    expected_result = new_doubles(n);
}

static void prepare(void)
{
    fill_floats(signal, n, -1.0f, 1.0f);
    poison_floats(smooth, n);
    poison_floats(detail, n);
    poison_floats(slope, n);
    poison_floats(result, n);
}

static void run(void) { chain(n, signal, smooth, detail, slope, result); }

static double expected_detail(int i, double gain) { return gain * (signal[i] - expected_smooth[i]); }

// The ends have themselves for the neighbour that they lack.
static double expected_slope(int i, double gain)
{
    return expected_detail(i < n - 1 ? i + 1 : i, gain) - expected_detail(i > 0 ? i - 1 : i, gain);
}

static void check(void)
{
    expected_smooth[0] = 0.5 * ((double)signal[0] + signal[1]);
    expected_smooth[n - 1] = 0.5 * ((double)signal[n - 2] + signal[n - 1]);
#pragma omp parallel for
    for (int i = 1; i < n - 1; i++)
        expected_smooth[i] = 0.25 * signal[i - 1] + 0.5 * signal[i] + 0.25 * signal[i + 1];

    double roughness = 0, limit = 0.1;
    for (int p = 0; p < PROBES; p++)
        roughness += fabs(signal[probe(p, n)] - expected_smooth[probe(p, n)]);
    double gain = 1 / (1 + roughness);
    for (int p = 0; p < PROBES; p++)
        limit = fmax(limit, fabs(expected_slope(probe(p, n), gain)));

#pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double steepness = expected_slope(i, gain) / limit;
        expected_result[i] = expected_smooth[i] + expected_detail(i, gain) / (1 + steepness * steepness);
    }
    check_floats("result", result, expected_result, n, 2e-6);
}

static struct work work(void)
{
    double bytes = 4.0 * n;
    return (struct work){.bytes_in = bytes, .bytes_out = bytes, .device_bytes = 2 * bytes, .operations = 12.0 * n};
}

const struct program program = {"chain", "n", allocate, prepare, run, check, work};
