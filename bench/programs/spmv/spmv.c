// A sparse matrix in compressed rows times a vector; the rows are of very different lengths (as in SHOC's Spmv).
#include "spmv.h"
#include "program.h"

// Two neighbouring rows have PAIR elements together; one row in GROUP has LONG more. That makes 32 on average, and
// the same number of elements for every seed.
enum { PAIR = 48, GROUP = 256, LONG = 2048 };

static int rows, nonzeros;
static int *start, *column, *split, *long_row;
static float *value, *x, *y;
static double *expected_y;

static void allocate(const long *sizes)
{
    rows = (int)sizes[0];
    nonzeros = rows / 2 * PAIR + rows / GROUP * LONG;
    start = new_ints(rows + 1);
    column = new_ints(nonzeros);
    value = new_floats(nonzeros);
    x = new_floats(rows);
    y = new_floats(rows);
    split = new_ints(rows / 2);
    long_row = new_ints(rows / GROUP);
    expected_y = new_doubles(rows);
}

static void prepare(void)
{
    fill_ints(split, rows / 2, 0, PAIR);
    fill_ints(long_row, rows / GROUP, 0, GROUP - 1);
    start[0] = 0;
    for (int i = 0; i < rows; i++) {
        int length = 0;
        if (i / 2 < rows / 2)
            length = i % 2 ? PAIR - split[i / 2] : split[i / 2];
        if (i / GROUP < rows / GROUP && i % GROUP == long_row[i / GROUP])
            length += LONG;
        start[i + 1] = start[i] + length;
    }
    fill_ints(column, nonzeros, 0, rows - 1);
    fill_floats(value, nonzeros, -1.0f, 1.0f);
    fill_floats(x, rows, -1.0f, 1.0f);
    poison_floats(y, rows);
}

static void run(void) { spmv(rows, rows, start, column, value, x, y); }

static void check(void)
{
#pragma omp parallel for schedule(dynamic, 256)
    for (int i = 0; i < rows; i++) {
        double sum = 0;
        for (int k = start[i]; k < start[i + 1]; k++)
            sum += (double)value[k] * x[column[k]];
        expected_y[i] = sum;
    }
    check_floats("y", y, expected_y, rows, 1e-5);
}

static struct work work(void)
{
    double in = 8.0 * nonzeros + 4.0 * (rows + 1) + 4.0 * rows, out = 4.0 * rows;
    return (struct work){
        .bytes_in = in, .bytes_out = out, .device_bytes = in + out, .operations = 2.0 * nonzeros};
}

const struct program program = {"spmv", "rows", allocate, prepare, run, check, work};
