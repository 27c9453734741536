// Gram-Schmidt by columns: many small kernels, between which the host needs a sum of each (ours).
#include "program.h"
#include "gram_schmidt.h"

#include <math.h>

static int rows, columns;
static float *q, *r, *before;
static double *expected_q, *expected_r;

static void allocate(const long *sizes)
{
    rows = (int)sizes[0];
    columns = (int)sizes[1];
    q = new_floats((size_t)rows * columns);
    before = new_floats((size_t)rows * columns);
    r = new_floats((size_t)columns * columns);
    expected_q = new_doubles((size_t)rows * columns);
    expected_r = new_doubles((size_t)columns * columns);
}

static void prepare(void)
{
    size_t cells = (size_t)rows * columns;
    fill_floats(before, cells, -1.0f, 1.0f);
#pragma omp parallel for
    for (size_t i = 0; i < cells; i++)
        q[i] = before[i];
    for (size_t i = 0; i < (size_t)columns * columns; i++)
        r[i] = 0;
}

static void run(void) { gram_schmidt(rows, columns, q, r); }

static double dot(const double *a, const double *b)
{
    double sum = 0;
#pragma omp parallel for reduction(+: sum)
    for (int i = 0; i < rows; i++)
        sum += a[i] * b[i];
    return sum;
}

static void check(void)
{
    for (size_t i = 0; i < (size_t)rows * columns; i++)
        expected_q[i] = before[i];
    for (size_t i = 0; i < (size_t)columns * columns; i++)
        expected_r[i] = 0;
    for (int k = 0; k < columns; k++) {
        double *own = expected_q + (size_t)k * rows;
        double norm = sqrt(dot(own, own));
        expected_r[k * columns + k] = norm;
        for (int i = 0; i < rows; i++)
            own[i] /= norm;
        for (int j = k + 1; j < columns; j++) {
            double *other = expected_q + (size_t)j * rows;
            double part = dot(own, other);
            expected_r[k * columns + j] = part;
            for (int i = 0; i < rows; i++)
                other[i] -= part * own[i];
        }
    }
    check_floats("q", q, expected_q, (size_t)rows * columns, 1e-4);
    check_floats("r", r, expected_r, (size_t)columns * columns, 1e-4);
}

static struct work work(void)
{
    double cells = (double)rows * columns;
    return (struct work){
        .bytes_in = 4 * cells,
        .bytes_out = 4 * cells,
        .device_bytes = 4 * 2.5 * cells * columns,
        .operations = 2 * cells * columns,
    };
}

const struct program program = {"gram_schmidt", "rows columns", allocate, prepare, run, check, work};
