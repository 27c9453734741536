// A matrix and its transpose, each times a vector and added to another (Polybench's MVT).
#include "mvt.h"
#include "program.h"

static int n;
static float *a, *y1, *y2, *x1, *x2, *x1_before, *x2_before;
static double *y1_double, *y2_double, *expected_x1, *expected_x2;

static void allocate(const long *sizes)
{
    n = (int)sizes[0];
    a = new_floats((size_t)n * n);
    y1 = new_floats(n);
    y2 = new_floats(n);
    x1 = new_floats(n);
    x2 = new_floats(n);
    x1_before = new_floats(n);
    x2_before = new_floats(n);
    y1_double = new_doubles(n);
    y2_double = new_doubles(n);
    expected_x1 = new_doubles(n);
    expected_x2 = new_doubles(n);
}

static void prepare(void)
{
    fill_floats(a, (size_t)n * n, 0.0f, 1.0f);
    fill_floats(y1, n, -1.0f, 1.0f);
    fill_floats(y2, n, -1.0f, 1.0f);
    fill_floats(x1_before, n, -10.0f, 10.0f);
    fill_floats(x2_before, n, -10.0f, 10.0f);
    for (int i = 0; i < n; i++) {
        x1[i] = x1_before[i];
        x2[i] = x2_before[i];
    }
}

static void run(void) { mvt(n, a, y1, y2, x1, x2); }

static void check(void)
{
    for (int i = 0; i < n; i++) {
        y1_double[i] = y1[i];
        y2_double[i] = y2[i];
    }
    host_multiply(a, y1_double, expected_x1, n, n);
    host_multiply_transposed(a, y2_double, expected_x2, n, n);
    for (int i = 0; i < n; i++) {
        expected_x1[i] += x1_before[i];
        expected_x2[i] += x2_before[i];
    }
    check_floats("x1", x1, expected_x1, n, 1e-5);
    check_floats("x2", x2, expected_x2, n, 1e-5);
}

static struct work work(void)
{
    double elements = (double)n * n;
    return (struct work){
        .bytes_in = 4 * (elements + 4.0 * n),
        .bytes_out = 4 * 2.0 * n,
        .device_bytes = 4 * elements,
        .operations = 4 * elements,
    };
}

const struct program program = {"mvt", "n", allocate, prepare, run, check, work};
