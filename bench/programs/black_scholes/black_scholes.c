// Prices of options by Black and Scholes' formula (as in the CUDA samples).
#include "black_scholes.h"
#include "program.h"

#include <math.h>

static const float rate = 0.02f, volatility = 0.3f;
static int n;
static float *spot, *strike, *years, *call, *put;
static double *expected_call, *expected_put;

static void allocate(const long *sizes)
{
    n = (int)sizes[0];
    spot = new_floats(n);
    strike = new_floats(n);
    years = new_floats(n);
    call = new_floats(n);
    put = new_floats(n);
    expected_call = new_doubles(n);
    expected_put = new_doubles(n);
}

static void prepare(void)
{
    fill_floats(spot, n, 5.0f, 50.0f);
    fill_floats(strike, n, 5.0f, 50.0f);
    fill_floats(years, n, 0.25f, 10.0f);
    poison_floats(call, n);
    poison_floats(put, n);
}

static void run(void) { black_scholes(n, rate, volatility, spot, strike, years, call, put); }

// The integral of the normal distribution up to d, in double precision.
static double normal(double d)
{
    double k = 1 / (1 + 0.2316419 * fabs(d));
    double polynomial =
        k * (0.319381530 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429))));
    double tail = 0.3989422804014327 * exp(-0.5 * d * d) * polynomial;
    return d > 0 ? 1 - tail : tail;
}

static void check(void)
{
#pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double s = spot[i], x = strike[i], t = years[i], v = volatility;
        double deviation = v * sqrt(t);
        double d1 = (log(s / x) + (rate + 0.5 * v * v) * t) / deviation;
        double discounted = x * exp(-rate * t);
        double n1 = normal(d1), n2 = normal(d1 - deviation);
        expected_call[i] = s * n1 - discounted * n2;
        expected_put[i] = discounted * (1 - n2) - s * (1 - n1);
    }
    check_floats("call", call, expected_call, n, 1e-5);
    check_floats("put", put, expected_put, n, 1e-5);
}

static struct work work(void)
{
    // The operations of a logarithm or an exponential function are the library's own.
    double bytes = 4.0 * n;
    return (struct work){.bytes_in = 3 * bytes, .bytes_out = 2 * bytes, .device_bytes = 5 * bytes, .operations = 0};
}

const struct program program = {"black_scholes", "n", allocate, prepare, run, check, work};
