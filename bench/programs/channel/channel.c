// A stencil whose first row the host writes before each step (ours).
#include "program.h"
#include "channel.h"

static int n, steps;
static float *inflow, *cells, *before;
static double *expected, *next;

static void allocate(const long *sizes)
{
    n = (int)sizes[0];
    steps = (int)sizes[1];
    size_t all = (size_t)n * n;
    inflow = new_floats((size_t)steps * n);
    cells = new_floats(all);
    before = new_floats(all);
    expected = new_doubles(all);
    next = new_doubles(all);
}

static void prepare(void)
{
    size_t all = (size_t)n * n;
    fill_floats(inflow, (size_t)steps * n, 0.0f, 1.0f);
    fill_floats(before, all, 0.0f, 1.0f);
#pragma omp parallel for
    for (size_t i = 0; i < all; i++)
        cells[i] = before[i];
}

static void run(void) { channel(n, steps, inflow, cells); }

static void check(void)
{
    double *now = expected;
    for (size_t i = 0; i < (size_t)n * n; i++)
        now[i] = before[i];
    for (int t = 0; t < steps; t++) {
        for (int j = 0; j < n; j++)
            now[j] = inflow[(size_t)t * n + j];
#pragma omp parallel for
        for (int i = 1; i < n - 1; i++)
            for (size_t c = (size_t)i * n + 1; c < (size_t)i * n + n - 1; c++)
                next[c] = 0.5 * now[c - n] + 0.2 * now[c] + 0.1 * (now[c + n] + now[c - 1] + now[c + 1]);
#pragma omp parallel for
        for (int i = 1; i < n - 1; i++)
            for (size_t c = (size_t)i * n + 1; c < (size_t)i * n + n - 1; c++)
                now[c] = next[c];
    }
    check_floats("cells", cells, expected, (size_t)n * n, 1e-5);
}

static struct work work(void)
{
    double all = (double)n * n;
    return (struct work){
        .bytes_in = 4 * all + 4.0 * n * steps,
        .bytes_out = 4 * all,
        .device_bytes = 4 * 4 * all * steps,
        .operations = 9 * all * steps,
    };
}

const struct program program = {"channel", "n steps", allocate, prepare, run, check, work};
