#include "atax.h"
#include "program.h"

// The loops split, in one data environment: a thread makes an element, in the order of `naive`. Small blocks reach all
// multiprocessors; the sums are unrolled, so that more loads are under way. Where rows begin on a border of four elements a thread
// loads four of its row at a time, which use up the sectors that it asks for.
enum { ROW_THREADS = 16, COLUMN_THREADS = 32 };

static inline float row_product(int columns, const float *row, const float *x)
{
    float sum = 0;
#pragma omp unroll partial(64)
    for (int j = 0; j < columns; j++)
        sum += row[j] * x[j];
    return sum;
}

static inline float row_product_of_quads(int columns, const float *row, const float *x)
{
    return row_product(columns, __builtin_assume_aligned(row, 16), __builtin_assume_aligned(x, 16));
}

void atax(int rows, int columns, const float *a, const float *x, float *tmp, float *y)
{
    int quads = tunable("quads", columns % 4 == 0);
    int row_teams = (rows + ROW_THREADS - 1) / ROW_THREADS;
    int column_teams = (columns + COLUMN_THREADS - 1) / COLUMN_THREADS;
#pragma omp target data map(to: a[0:rows * columns], x[0:columns]) map(from: tmp[0:rows], y[0:columns])
    {
#pragma omp target teams distribute parallel for num_teams(row_teams) thread_limit(ROW_THREADS)
        for (int i = 0; i < rows; i++) {
            const float *row = a + i * columns;
            tmp[i] = quads ? row_product_of_quads(columns, row, x) : row_product(columns, row, x);
        }

#pragma omp target teams distribute parallel for num_teams(column_teams) thread_limit(COLUMN_THREADS)
        for (int j = 0; j < columns; j++) {
            float sum = 0;
#pragma omp unroll partial(32)
            for (int i = 0; i < rows; i++)
                sum += a[i * columns + j] * tmp[i];
            y[j] = sum;
        }
    }
}
