// Heat that spreads until it changes no more: the host looks at one number after each step (ours).
#include "program.h"
#include "heat_until.h"

static const float tolerance = 1e-3f;
static int n, most, steps;
static float *heat, *before;
static double *expected, *next;

static void allocate(const long *sizes)
{
    n = (int)sizes[0];
    most = (int)sizes[1];
    size_t cells = (size_t)n * n;
    heat = new_floats(cells);
    before = new_floats(cells);
    expected = new_doubles(cells);
    next = new_doubles(cells);
}

static void prepare(void)
{
    size_t cells = (size_t)n * n;
    fill_floats(before, cells, 0.0f, 1.0f);
#pragma omp parallel for
    for (size_t i = 0; i < cells; i++)
        heat[i] = before[i];
}

static void run(void) { steps = heat_until(n, most, tolerance, heat); }

// As many steps as there were: the test itself is one of single precision.
static void check(void)
{
    size_t cells = (size_t)n * n;
    for (size_t i = 0; i < cells; i++)
        expected[i] = next[i] = before[i];
    for (int t = 0; t < steps; t++) {
#pragma omp parallel for
        for (int i = 1; i < n - 1; i++)
            for (size_t c = (size_t)i * n + 1; c < (size_t)i * n + n - 1; c++)
                next[c] = 0.25 * (expected[c - n] + expected[c + n] + expected[c - 1] + expected[c + 1]);
        double *other = expected;
        expected = next;
        next = other;
    }
    check_floats("heat", heat, expected, cells, 1e-5);
}

static struct work work(void)
{
    double cells = (double)n * n;
    return (struct work){
        .bytes_in = 4 * cells,
        .bytes_out = 4 * cells,
        .device_bytes = 4 * 4 * cells * steps,
        .operations = 7 * cells * steps,
    };
}

const struct program program = {"heat_until", "n most", allocate, prepare, run, check, work};
