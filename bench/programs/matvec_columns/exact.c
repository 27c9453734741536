#include "matvec_columns.h"

// One row a thread: coalesced as it stands, but few rows. Blocks of one warp, whose limit is compiled in, reach all multiprocessors;
// the sum unrolled, so that more loads are under way.
enum { THREADS = 32 };

void matvec_columns(int rows, int columns, const float *a, const float *x, float *y)
{
    int teams = (rows + THREADS - 1) / THREADS;
#pragma omp target teams distribute parallel for num_teams(teams) thread_limit(THREADS) \
    map(to: a[0:rows * columns], x[0:columns]) map(from: y[0:rows])
    for (int i = 0; i < rows; i++) {
        float sum = 0;
#pragma omp unroll partial(64)
        for (int j = 0; j < columns; j++)
            sum += a[j * rows + i] * x[j];
        y[i] = sum;
    }
}
