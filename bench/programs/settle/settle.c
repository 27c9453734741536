// A rod that is heated at one end until its middle is warm: the host sets one cell and reads another in each step, and leaves early (ours).
#include "program.h"
#include "settle.h"

static int cells, most, steps;
static float *rod, *next, *before;
static double *expected, *other;
static float goal;

static void allocate(const long *sizes)
{
    cells = (int)sizes[0];
    most = (int)sizes[1];
    rod = new_floats(cells);
    next = new_floats(cells);
    no_result(next);
    before = new_floats(cells);
    expected = new_doubles(cells);
    other = new_doubles(cells);
}

static void prepare(void)
{
    fill_floats(before, cells, 0.0f, 1.0f);
    // The middle is never that warm in the first half of the steps, and the test is one of single precision.
    before[cells / 2] = 0.0f;
    goal = 2.0f;
    for (int i = 0; i < cells; i++) {
        rod[i] = before[i];
        next[i] = 0.0f;
    }
}

static void run(void) { steps = settle(cells, most, goal, rod, next); }

// As many steps as there were.
static void check(void)
{
    for (int i = 0; i < cells; i++)
        expected[i] = other[i] = before[i];
    for (int t = 0; t < steps; t++) {
        expected[0] = t;
#pragma omp parallel for
        for (int i = 1; i < cells - 1; i++)
            other[i] = 0.25 * expected[i - 1] + 0.5 * expected[i] + 0.25 * expected[i + 1];
#pragma omp parallel for
        for (int i = 1; i < cells - 1; i++)
            expected[i] = other[i];
    }
    check_floats("rod", rod, expected, cells, 1e-5);
}

static struct work work(void)
{
    double n = cells;
    return (struct work){
        .bytes_in = 8 * n, .bytes_out = 8 * n, .device_bytes = 4 * 4 * n * steps, .operations = 5 * n * steps};
}

const struct program program = {"settle", "cells most", allocate, prepare, run, check, work};
