// Heat conduction in three dimensions with a seven-point stencil (after Polybench's heat-3d).
#include "program.h"
#include "stencil3d.h"

static int n, steps;
static float *grid, *next, *before;
static double *expected, *expected_next;

static void allocate(const long *sizes)
{
    n = (int)sizes[0];
    steps = (int)sizes[1];
    size_t cells = (size_t)n * n * n;
    grid = new_floats(cells);
    next = new_floats(cells);
    before = new_floats(cells);
    expected = new_doubles(cells);
    expected_next = new_doubles(cells);
}

static void prepare(void)
{
    size_t cells = (size_t)n * n * n;
    fill_floats(before, cells, -1.0f, 1.0f);
    poison_floats(next, cells);
#pragma omp parallel for
    for (size_t i = 0; i < cells; i++)
        grid[i] = before[i];
}

static void run(void) { stencil3d(n, steps, grid, next); }

static void expect_sweep(const double *from, double *to)
{
#pragma omp parallel for collapse(2)
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < n - 1; j++) {
            const double *row = from + ((size_t)i * n + j) * n;
            for (int k = 1; k < n - 1; k++)
                to[((size_t)i * n + j) * n + k] =
                    0.4 * row[k] +
                    0.1 * (row[k - 1] + row[k + 1] + row[k - n] + row[k + n] + row[k - n * n] + row[k + n * n]);
        }
}

static void check(void)
{
    double *from = expected, *to = expected_next;
#pragma omp parallel for
    for (size_t i = 0; i < (size_t)n * n * n; i++)
        expected[i] = expected_next[i] = before[i];
    for (int t = 0; t < steps; t++) {
        expect_sweep(from, to);
        double *swap = from;
        from = to;
        to = swap;
    }
    check_floats("grid", grid, from, (size_t)n * n * n, 5e-6);
}

static struct work work(void)
{
    double cells = (double)n * n * n;
    return (struct work){
        .bytes_in = 4 * cells,
        .bytes_out = 4 * cells,
        .device_bytes = 2 * 4 * cells * steps,
        .operations = 8 * cells * steps,
    };
}

const struct program program = {"stencil3d", "n steps", allocate, prepare, run, check, work};
