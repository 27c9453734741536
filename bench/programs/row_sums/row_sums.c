// The sum of each row of a matrix: the smallest loop whose accesses are uncoalesced.
#include "row_sums.h"
#include "program.h"

static int rows, columns;
static float *a, *sums;
static double *expected; // in double precision

static void allocate(const long *sizes)
{
    rows = (int)sizes[0];
    columns = (int)sizes[1];
    a = new_floats((size_t)rows * columns);
    sums = new_floats(rows);
    expected = new_doubles(rows);
}

static void prepare(void)
{
    fill_floats(a, (size_t)rows * columns, -1.0f, 1.0f);
    poison_floats(sums, rows);
}

static void run(void) { row_sums(rows, columns, a, sums); }

static void check(void)
{
#pragma omp parallel for
    for (size_t i = 0; i < (size_t)rows; i++) {
        double sum = 0;
        for (size_t j = 0; j < (size_t)columns; j++)
            sum += a[i * columns + j];
        expected[i] = sum;
    }
    check_floats("sums", sums, expected, rows, 2e-5);
}

static struct work work(void)
{
    double elements = (double)rows * columns;
    return (struct work){
        .bytes_in = 4 * elements,
        .bytes_out = 4.0 * rows,
        .device_bytes = 4 * (elements + rows),
        .operations = elements,
    };
}

const struct program program = {"row_sums", "rows columns", allocate, prepare, run, check, work};
