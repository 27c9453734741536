// Out-of-place transposition of a matrix (as in the CUDA samples).
#include "transpose.h"
#include "program.h"

static int rows, columns;
static float *in, *out;

static void allocate(const long *sizes)
{
    rows = (int)sizes[0];
    columns = (int)sizes[1];
    in = new_floats((size_t)rows * columns);
    out = new_floats((size_t)rows * columns);
}

static void prepare(void)
{
    fill_floats(in, (size_t)rows * columns, -1.0f, 1.0f);
    poison_floats(out, (size_t)rows * columns);
}

static void run(void) { transpose(rows, columns, in, out); }

// Nothing is computed, so that every element must be equal. Goes through the matrix in blocks that fit the cache.
static void check(void)
{
    enum { BLOCK = 32 };
    size_t wrong = SIZE_MAX; // the first wrong element of out
#pragma omp parallel for reduction(min : wrong)
    for (int first = 0; first < columns; first += BLOCK) {
        int end = first + BLOCK < columns ? first + BLOCK : columns;
        for (int top = 0; top < rows; top += BLOCK) {
            int bottom = top + BLOCK < rows ? top + BLOCK : rows;
            for (int j = first; j < end; j++)
                for (int i = top; i < bottom; i++) {
                    size_t index = (size_t)j * rows + i;
                    if (out[index] != in[(size_t)i * columns + j] && index < wrong)
                        wrong = index;
                }
        }
    }
    size_t index = wrong == SIZE_MAX ? 0 : wrong;
    check_float("out", out[index], in[index % rows * columns + index / rows], 0);
}

static struct work work(void)
{
    double bytes = 4.0 * rows * columns;
    return (struct work){.bytes_in = bytes, .bytes_out = bytes, .device_bytes = 2 * bytes, .operations = 0};
}

const struct program program = {"transpose", "rows columns", allocate, prepare, run, check, work};
