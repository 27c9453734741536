#include "matvec_columns.h"
#include "program.h"

// The full grid, one row a thread: coalesced as it stands, but few rows. Blocks of 8 threads reach all multiprocessors.
void matvec_columns(int rows, int columns, const float *a, const float *x, float *y)
{
    int threads = tunable("threads", 8);
    int teams = (rows + threads - 1) / threads;
#pragma omp target teams distribute parallel for num_teams(teams) thread_limit(threads) \
    map(to: a[0:rows * columns], x[0:columns]) map(from: y[0:rows])
    for (int i = 0; i < rows; i++) {
        float sum = 0;
        for (int j = 0; j < columns; j++)
            sum += a[j * rows + i] * x[j];
        y[i] = sum;
    }
}
