// The sum of the rows of k matrices, which shows how the best occupancy falls with the number of uncoalesced accesses
// (table 1 of Chikin et al., 2018).
#include "matrix_sums.h"
#include "program.h"

static int n, k;
static float *m, *out, *out_before;
static double *row, *expected; // in double precision

static void allocate(const long *sizes)
{
    n = (int)sizes[0];
    k = (int)sizes[1];
    size_t elements = (size_t)n * n;
    m = new_floats(k * elements);
    out = new_floats(elements);
    out_before = new_floats(elements);
    row = new_doubles(n);
    expected = new_doubles(elements);
}

static void prepare(void)
{
    size_t elements = (size_t)n * n;
    fill_floats(m, k * elements, -1.0f, 1.0f);
    fill_floats(out_before, elements, -1.0f, 1.0f);
#pragma omp parallel for
    for (size_t i = 0; i < elements; i++)
        out[i] = out_before[i];
}

static void run(void) { matrix_sums(n, k, m, out); }

static void check(void)
{
    size_t size = n;
#pragma omp parallel for
    for (size_t j = 0; j < size; j++) {
        row[j] = 0;
        for (size_t matrix = 0; matrix < (size_t)k; matrix++) {
            double sum = 0;
            for (size_t q = 0; q < size; q++)
                sum += m[(matrix * size + j) * size + q];
            row[j] += sum;
        }
    }
#pragma omp parallel for
    for (size_t i = 0; i < size; i++)
        for (size_t j = 0; j < size; j++)
            expected[i * size + j] = out_before[i * size + j] + row[j];
    check_floats("out", out, expected, size * size, 1e-5);
}

static struct work work(void)
{
    double matrix = 4.0 * n * n;
    return (struct work){
        .bytes_in = (k + 1) * matrix,
        .bytes_out = matrix,
        .device_bytes = (k + 2) * matrix,
        .operations = (double)n * n * n * k,
    };
}

const struct program program = {"matrix_sums", "n k", allocate, prepare, run, check, work};
