// Finite-difference time-domain method in two dimensions (Polybench's FDTD-2D).
#include "fdtd2d.h"
#include "program.h"

#include <stdlib.h>

static int n, steps;
static float *source, *ex, *ey, *hz, *ex_before, *ey_before, *hz_before;
static double *expected_ex, *expected_ey, *expected_hz;

static void allocate(const long *sizes)
{
    n = (int)sizes[0];
    steps = (int)sizes[1];
    size_t cells = (size_t)n * n;
    source = new_floats(steps);
    ex = new_floats(cells);
    ey = new_floats(cells);
    hz = new_floats(cells);
    ex_before = new_floats(cells);
    ey_before = new_floats(cells);
    hz_before = new_floats(cells);
    expected_ex = new_doubles(cells);
    expected_ey = new_doubles(cells);
    expected_hz = new_doubles(cells);
}

static void prepare(void)
{
    size_t cells = (size_t)n * n;
    fill_floats(source, steps, -1.0f, 1.0f);
    fill_floats(ex_before, cells, -1.0f, 1.0f);
    fill_floats(ey_before, cells, -1.0f, 1.0f);
    fill_floats(hz_before, cells, -1.0f, 1.0f);
#pragma omp parallel for
    for (size_t i = 0; i < cells; i++) {
        ex[i] = ex_before[i];
        ey[i] = ey_before[i];
        hz[i] = hz_before[i];
    }
}

static void run(void) { fdtd2d(n, steps, source, ex, ey, hz); }

// All steps on a window of the grid. Where its border is not the grid's, wrong values move inwards by a cell a step.
static void simulate(int rows, int columns, int has_source, double *wx, double *wy, double *wz)
{
    for (int t = 0; t < steps; t++) {
        for (int j = 0; has_source && j < columns; j++)
            wy[j] = source[t];
        for (int i = 1; i < rows; i++)
            for (int j = 0; j < columns; j++)
                wy[i * columns + j] -= 0.5 * (wz[i * columns + j] - wz[(i - 1) * columns + j]);
        for (int i = 0; i < rows; i++)
            for (int j = 1; j < columns; j++)
                wx[i * columns + j] -= 0.5 * (wz[i * columns + j] - wz[i * columns + j - 1]);
        for (int i = 0; i < rows - 1; i++)
            for (int j = 0; j < columns - 1; j++)
                wz[i * columns + j] -= 0.7 * (wx[i * columns + j + 1] - wx[i * columns + j] +
                                              wy[(i + 1) * columns + j] - wy[i * columns + j]);
    }
}

// The reference of one tile: its cells and `steps` more on each side, which fit the cache together.
static void expect_tile(int top, int left, int height, int width)
{
    int row = top > steps ? top - steps : 0;
    int column = left > steps ? left - steps : 0;
    int bottom = top + height, right = left + width;
    int rows = (n - bottom > steps ? bottom + steps : n) - row;
    int columns = (n - right > steps ? right + steps : n) - column;
    double *wx = malloc(3 * (size_t)rows * columns * sizeof *wx);
    double *wy = wx + (size_t)rows * columns;
    double *wz = wy + (size_t)rows * columns;
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++) {
            size_t cell = (size_t)(row + i) * n + column + j;
            wx[i * columns + j] = ex_before[cell];
            wy[i * columns + j] = ey_before[cell];
            wz[i * columns + j] = hz_before[cell];
        }
    simulate(rows, columns, row == 0, wx, wy, wz);
    for (int i = top; i < bottom; i++)
        for (int j = left; j < right; j++) {
            size_t cell = (size_t)i * n + j;
            int inside = (i - row) * columns + j - column;
            expected_ex[cell] = wx[inside];
            expected_ey[cell] = wy[inside];
            expected_hz[cell] = wz[inside];
        }
    free(wx);
}

static void check(void)
{
    enum { HEIGHT = 128, WIDTH = 256 };
#pragma omp parallel for collapse(2) schedule(dynamic)
    for (int top = 0; top < n; top += HEIGHT)
        for (int left = 0; left < n; left += WIDTH)
            expect_tile(top, left, n - top < HEIGHT ? n - top : HEIGHT, n - left < WIDTH ? n - left : WIDTH);
    check_floats("ex", ex, expected_ex, (size_t)n * n, 5e-6);
    check_floats("ey", ey, expected_ey, (size_t)n * n, 5e-6);
    check_floats("hz", hz, expected_hz, (size_t)n * n, 5e-6);
}

static struct work work(void)
{
    double cells = (double)n * n;
    return (struct work){
        .bytes_in = 4 * (3 * cells + steps),
        .bytes_out = 4 * 3 * cells,
        .device_bytes = 4 * 6 * cells * steps,
        .operations = 11 * cells * steps,
    };
}

const struct program program = {"fdtd2d", "n steps", allocate, prepare, run, check, work};
