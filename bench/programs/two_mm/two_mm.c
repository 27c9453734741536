// Two dense matrix products, of which the second uses the result of the first (Polybench's 2MM).
#include "two_mm.h"
#include "program.h"

static const float alpha = 1.5f, beta = 0.5f;
static int n;
static float *a, *b, *c, *tmp, *d, *d_before, *random_values;
static double *x, *cx, *bcx, *expected_dx, *dx_before, *actual_dx;
static float *actual_dx_float;

static void allocate(const long *sizes)
{
    n = (int)sizes[0];
    size_t elements = (size_t)n * n;
    a = new_floats(elements);
    b = new_floats(elements);
    c = new_floats(elements);
    tmp = new_floats(elements);
    d = new_floats(elements);
    d_before = new_floats(elements);
    random_values = new_floats(n);
    x = new_doubles(n);
    cx = new_doubles(n);
    bcx = new_doubles(n);
    expected_dx = new_doubles(n);
    dx_before = new_doubles(n);
    actual_dx = new_doubles(n);
    actual_dx_float = new_floats(n);
}

static void prepare(void)
{
    size_t elements = (size_t)n * n;
    fill_floats(a, elements, -1.0f, 1.0f);
    fill_floats(b, elements, -1.0f, 1.0f);
    fill_floats(c, elements, -1.0f, 1.0f);
    fill_floats(d_before, elements, -1.0f, 1.0f);
    poison_floats(tmp, elements);
#pragma omp parallel for
    for (size_t i = 0; i < elements; i++)
        d[i] = d_before[i];
}

static void run(void) { two_mm(n, alpha, beta, a, b, c, tmp, d); }

// Freivalds' method: both sides times one random vector.
static void check(void)
{
    fill_floats(random_values, n, -1.0f, 1.0f);
    for (int j = 0; j < n; j++)
        x[j] = random_values[j];
    host_multiply(c, x, cx, n, n);
    host_multiply(b, cx, bcx, n, n);
    host_multiply(a, bcx, expected_dx, n, n);
    host_multiply(d_before, x, dx_before, n, n);
    host_multiply(d, x, actual_dx, n, n);
    for (int i = 0; i < n; i++) {
        expected_dx[i] = alpha * expected_dx[i] + beta * dx_before[i];
        actual_dx_float[i] = (float)actual_dx[i];
    }
    check_floats("d x", actual_dx_float, expected_dx, n, 3e-6);
}

static struct work work(void)
{
    double matrix = 4.0 * n * n;
    return (struct work){
        .bytes_in = 4 * matrix, .bytes_out = matrix, .device_bytes = 7 * matrix, .operations = 4.0 * n * n * n};
}

const struct program program = {"two_mm", "n", allocate, prepare, run, check, work};
