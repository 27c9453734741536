// The sum of two matrix-vector products (Polybench's GESUMMV).
#include "gesummv.h"
#include "program.h"

static const float alpha = 1.5f, beta = 0.75f;
static int n;
static float *a, *b, *x, *tmp, *y;
static double *x_double, *ax, *expected_y;

static void allocate(const long *sizes)
{
    n = (int)sizes[0];
    a = new_floats((size_t)n * n);
    b = new_floats((size_t)n * n);
    x = new_floats(n);
    tmp = new_floats(n);
    y = new_floats(n);
    x_double = new_doubles(n);
    ax = new_doubles(n);
    expected_y = new_doubles(n);
}

static void prepare(void)
{
    fill_floats(a, (size_t)n * n, 0.0f, 1.0f);
    fill_floats(b, (size_t)n * n, 0.0f, 1.0f);
    fill_floats(x, n, -1.0f, 1.0f);
    poison_floats(tmp, n);
    poison_floats(y, n);
}

static void run(void) { gesummv(n, alpha, beta, a, b, x, tmp, y); }

static void check(void)
{
    for (int j = 0; j < n; j++)
        x_double[j] = x[j];
    host_multiply(a, x_double, ax, n, n);
    host_multiply(b, x_double, expected_y, n, n);
    for (int i = 0; i < n; i++)
        expected_y[i] = alpha * ax[i] + beta * expected_y[i];
    check_floats("y", y, expected_y, n, 1e-5);
}

static struct work work(void)
{
    double elements = 2.0 * n * n;
    return (struct work){
        .bytes_in = 4 * (elements + n),
        .bytes_out = 4.0 * n,
        .device_bytes = 4 * elements,
        .operations = 2 * elements,
    };
}

const struct program program = {"gesummv", "n", allocate, prepare, run, check, work};
