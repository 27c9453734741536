// Jacobi steps between two grids that change places after each (ours).
#include "program.h"
#include "jacobi_swap.h"

static int n, steps;
static float *right, *x, *before;
static double *expected, *next;

static void allocate(const long *sizes)
{
    n = (int)sizes[0];
    steps = (int)sizes[1];
    size_t cells = (size_t)n * n;
    right = new_floats(cells);
    x = new_floats(cells);
    before = new_floats(cells);
    expected = new_doubles(cells);
    next = new_doubles(cells);
}

static void prepare(void)
{
    size_t cells = (size_t)n * n;
    fill_floats(right, cells, -1.0f, 1.0f);
    fill_floats(before, cells, -1.0f, 1.0f);
#pragma omp parallel for
    for (size_t i = 0; i < cells; i++)
        x[i] = before[i];
}

static void run(void) { jacobi_swap(n, steps, right, x); }

static void check(void)
{
    size_t cells = (size_t)n * n;
    for (size_t i = 0; i < cells; i++)
        expected[i] = next[i] = before[i];
    for (int t = 0; t < steps; t++) {
#pragma omp parallel for
        for (int i = 1; i < n - 1; i++)
            for (size_t c = (size_t)i * n + 1; c < (size_t)i * n + n - 1; c++)
                next[c] = 0.25 * (right[c] + expected[c - n] + expected[c + n] + expected[c - 1] + expected[c + 1]);
        double *other = expected;
        expected = next;
        next = other;
    }
    check_floats("x", x, expected, cells, 1e-5);
}

static struct work work(void)
{
    double cells = (double)n * n;
    return (struct work){
        .bytes_in = 3 * 4 * cells,
        .bytes_out = 4 * cells,
        .device_bytes = 3 * 4 * cells * steps,
        .operations = 5 * cells * steps,
    };
}

const struct program program = {"jacobi_swap", "n steps", allocate, prepare, run, check, work};
