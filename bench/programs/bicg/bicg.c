// The two products of a matrix and of its transpose in a step of BiCGStab (Polybench's BICG).
#include "bicg.h"
#include "program.h"

static int rows, columns;
static float *a, *p, *r, *q, *s;
static double *p_double, *r_double, *expected_q, *expected_s;

static void allocate(const long *sizes)
{
    rows = (int)sizes[0];
    columns = (int)sizes[1];
    a = new_floats((size_t)rows * columns);
    p = new_floats(columns);
    r = new_floats(rows);
    q = new_floats(rows);
    s = new_floats(columns);
    p_double = new_doubles(columns);
    r_double = new_doubles(rows);
    expected_q = new_doubles(rows);
    expected_s = new_doubles(columns);
}

static void prepare(void)
{
    fill_floats(a, (size_t)rows * columns, 0.0f, 1.0f);
    fill_floats(p, columns, -1.0f, 1.0f);
    fill_floats(r, rows, -1.0f, 1.0f);
    poison_floats(q, rows);
    poison_floats(s, columns);
}

static void run(void) { bicg(rows, columns, a, p, r, q, s); }

static void check(void)
{
    for (int j = 0; j < columns; j++)
        p_double[j] = p[j];
    for (int i = 0; i < rows; i++)
        r_double[i] = r[i];
    host_multiply(a, p_double, expected_q, rows, columns);
    host_multiply_transposed(a, r_double, expected_s, rows, columns);
    check_floats("q", q, expected_q, rows, 1e-5);
    check_floats("s", s, expected_s, columns, 1e-5);
}

static struct work work(void)
{
    double elements = (double)rows * columns;
    return (struct work){
        .bytes_in = 4 * (elements + rows + columns),
        .bytes_out = 4.0 * (rows + columns),
        .device_bytes = 4 * elements,
        .operations = 4 * elements,
    };
}

const struct program program = {"bicg", "rows columns", allocate, prepare, run, check, work};
