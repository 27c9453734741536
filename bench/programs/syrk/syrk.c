// A matrix times its own transpose, added to a scaled matrix (Polybench's SYRK).
#include "syrk.h"
#include "program.h"

static const float alpha = 1.5f, beta = 0.5f;
static int n, m;
static float *a, *c, *c_before, *random_values, *actual_cx_float;
static double *x, *atx, *expected_cx, *cx_before, *actual_cx;

static void allocate(const long *sizes)
{
    n = (int)sizes[0];
    m = (int)sizes[1];
    a = new_floats((size_t)n * m);
    c = new_floats((size_t)n * n);
    c_before = new_floats((size_t)n * n);
    random_values = new_floats(n);
    actual_cx_float = new_floats(n);
    x = new_doubles(n);
    atx = new_doubles(m);
    expected_cx = new_doubles(n);
    cx_before = new_doubles(n);
    actual_cx = new_doubles(n);
}

static void prepare(void)
{
    size_t elements = (size_t)n * n;
    fill_floats(a, (size_t)n * m, -1.0f, 1.0f);
    fill_floats(c_before, elements, -1.0f, 1.0f);
#pragma omp parallel for
    for (size_t i = 0; i < elements; i++)
        c[i] = c_before[i];
}

static void run(void) { syrk(n, m, alpha, beta, a, c); }

// Freivalds' method: both sides times one random vector.
static void check(void)
{
    fill_floats(random_values, n, -1.0f, 1.0f);
    for (int j = 0; j < n; j++)
        x[j] = random_values[j];
    host_multiply_transposed(a, x, atx, n, m);
    host_multiply(a, atx, expected_cx, n, m);
    host_multiply(c_before, x, cx_before, n, n);
    host_multiply(c, x, actual_cx, n, n);
    for (int i = 0; i < n; i++) {
        expected_cx[i] = alpha * expected_cx[i] + beta * cx_before[i];
        actual_cx_float[i] = (float)actual_cx[i];
    }
    check_floats("c x", actual_cx_float, expected_cx, n, 3e-6);
}

static struct work work(void)
{
    double result = 4.0 * n * n, factor = 4.0 * n * m;
    return (struct work){
        .bytes_in = factor + result,
        .bytes_out = result,
        .device_bytes = factor + 2 * result,
        .operations = 1.0 * n * (n + 1) * m, // the product is symmetric
    };
}

const struct program program = {"syrk", "n m", allocate, prepare, run, check, work};
