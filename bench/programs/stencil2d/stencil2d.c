// Five-point averages with two grids in turns (after Polybench's Jacobi-2D).
#include "program.h"
#include "stencil2d.h"

static int n, steps;
static float *a, *b, *before;
static double *expected_a, *expected_b;

static void allocate(const long *sizes)
{
    n = (int)sizes[0];
    steps = (int)sizes[1];
    size_t cells = (size_t)n * n;
    a = new_floats(cells);
    b = new_floats(cells);
    before = new_floats(cells);
    expected_a = new_doubles(cells);
    expected_b = new_doubles(cells);
}

static int is_edge(int i, int j) { return i == 0 || j == 0 || i == n - 1 || j == n - 1; }

static void prepare(void)
{
    fill_floats(before, (size_t)n * n, -1.0f, 1.0f);
    poison_floats(b, (size_t)n * n);
#pragma omp parallel for
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            size_t cell = (size_t)i * n + j;
            a[cell] = before[cell];
            if (is_edge(i, j))
                b[cell] = before[cell];
        }
}

static void run(void) { stencil2d(n, steps, a, b); }

static void expect_sweep(const double *from, double *to)
{
#pragma omp parallel for
    for (int i = 1; i < n - 1; i++) {
        const double *row = from + (size_t)i * n;
        for (int j = 1; j < n - 1; j++)
            to[(size_t)i * n + j] = 0.2 * (row[j] + row[j - 1] + row[j + 1] + row[j - n] + row[j + n]);
    }
}

static void check(void)
{
#pragma omp parallel for
    for (size_t i = 0; i < (size_t)n * n; i++)
        expected_a[i] = expected_b[i] = before[i];
    for (int t = 0; t < steps; t++) {
        expect_sweep(expected_a, expected_b);
        expect_sweep(expected_b, expected_a);
    }
    check_floats("a", a, expected_a, (size_t)n * n, 5e-6);
    check_floats("b", b, expected_b, (size_t)n * n, 5e-6);
}

static struct work work(void)
{
    double cells = (double)n * n;
    return (struct work){
        .bytes_in = 4 * cells,
        .bytes_out = 2 * 4 * cells,
        .device_bytes = 2 * 2 * 4 * cells * steps,
        .operations = 2 * 5 * cells * steps,
    };
}

const struct program program = {"stencil2d", "n steps", allocate, prepare, run, check, work};
