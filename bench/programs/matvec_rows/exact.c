#include "matvec_rows.h"
#include "program.h"

// One thread a row, in the order of the row, in small blocks, which reach all multiprocessors. Where rows begin on a border of four
// elements a thread loads four at a time, which use up the sectors that it asks for; the sum unrolled, so that more of them are under
// way.
enum { THREADS = 16 };

static inline float product(int columns, const float *row, const float *x)
{
    float sum = 0;
#pragma omp unroll partial(64)
    for (int j = 0; j < columns; j++)
        sum += row[j] * x[j];
    return sum;
}

static inline float product_of_quads(int columns, const float *row, const float *x)
{
    return product(columns, __builtin_assume_aligned(row, 16), __builtin_assume_aligned(x, 16));
}

void matvec_rows(int rows, int columns, const float *a, const float *x, float *y)
{
    int quads = tunable("quads", columns % 4 == 0);
    int teams = (rows + THREADS - 1) / THREADS;
#pragma omp target teams distribute parallel for num_teams(teams) thread_limit(THREADS) \
    map(to: a[0:rows * columns], x[0:columns]) map(from: y[0:rows])
    for (int i = 0; i < rows; i++) {
        const float *row = a + i * columns;
        y[i] = quads ? product_of_quads(columns, row, x) : product(columns, row, x);
    }
}
