// A matrix stored by rows times a vector (the uncoalesced mv of Magni's thread coarsening).
#include "matvec_rows.h"
#include "program.h"

static int rows, columns;
static float *a, *x, *y;
static double *expected_x, *expected_y; // in double precision

static void allocate(const long *sizes)
{
    rows = (int)sizes[0];
    columns = (int)sizes[1];
    a = new_floats((size_t)rows * columns);
    x = new_floats(columns);
    y = new_floats(rows);
    expected_x = new_doubles(columns);
    expected_y = new_doubles(rows);
}

static void prepare(void)
{
    fill_floats(a, (size_t)rows * columns, -1.0f, 1.0f);
    fill_floats(x, columns, -1.0f, 1.0f);
    poison_floats(y, rows);
}

static void run(void) { matvec_rows(rows, columns, a, x, y); }

static void check(void)
{
    for (int j = 0; j < columns; j++)
        expected_x[j] = x[j];
    host_multiply(a, expected_x, expected_y, rows, columns);
    check_floats("y", y, expected_y, rows, 1e-5);
}

static struct work work(void)
{
    double elements = (double)rows * columns;
    return (struct work){
        .bytes_in = 4 * (elements + columns),
        .bytes_out = 4.0 * rows,
        .device_bytes = 4 * (elements + columns + rows),
        .operations = 2 * elements,
    };
}

const struct program program = {"matvec_rows", "rows columns", allocate, prepare, run, check, work};
