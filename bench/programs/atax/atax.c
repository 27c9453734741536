// A matrix times a vector, then its transpose times the result (Polybench's ATAX).
#include "atax.h"
#include "program.h"

static int rows, columns;
static float *a, *x, *tmp, *y;
static double *expected_x, *expected_tmp, *expected_y; // in double precision

static void allocate(const long *sizes)
{
    rows = (int)sizes[0];
    columns = (int)sizes[1];
    a = new_floats((size_t)rows * columns);
    x = new_floats(columns);
    tmp = new_floats(rows);
    y = new_floats(columns);
    expected_x = new_doubles(columns);
    expected_tmp = new_doubles(rows);
    expected_y = new_doubles(columns);
}

static void prepare(void)
{
    fill_floats(a, (size_t)rows * columns, 0.0f, 1.0f);
    fill_floats(x, columns, -1.0f, 1.0f);
    poison_floats(tmp, rows);
    poison_floats(y, columns);
}

static void run(void) { atax(rows, columns, a, x, tmp, y); }

static void check(void)
{
    for (int j = 0; j < columns; j++)
        expected_x[j] = x[j];
    host_multiply(a, expected_x, expected_tmp, rows, columns);
    host_multiply_transposed(a, expected_tmp, expected_y, rows, columns);
    check_floats("tmp", tmp, expected_tmp, rows, 1e-4);
    check_floats("y", y, expected_y, columns, 1e-4);
}

static struct work work(void)
{
    double elements = (double)rows * columns;
    return (struct work){
        .bytes_in = 4 * (elements + columns),
        .bytes_out = 4.0 * (rows + columns),
        .device_bytes = 2 * 4 * elements,
        .operations = 4 * elements,
    };
}

const struct program program = {"atax", "rows columns", allocate, prepare, run, check, work};
