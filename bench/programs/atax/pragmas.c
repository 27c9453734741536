#include "atax.h"
#include "program.h"

// The loops split, in one data environment. A team for each row, whose threads read neighbouring elements and reduce
// into an array section of one element. Blocks of one warp for the columns, so that they reach all multiprocessors.
void atax(int rows, int columns, const float *a, const float *x, float *tmp, float *y)
{
    int row_threads = tunable("row_threads", 256);
    int column_threads = tunable("column_threads", 32);
    int column_teams = (columns + column_threads - 1) / column_threads;
#pragma omp target data map(to: a[0:rows * columns], x[0:columns]) map(from: tmp[0:rows], y[0:columns])
    {
#pragma omp target teams distribute num_teams(rows) thread_limit(row_threads)
        for (int i = 0; i < rows; i++) {
            tmp[i] = 0;
#pragma omp parallel for reduction(+ : tmp[i:1])
            for (int j = 0; j < columns; j++)
                tmp[i] += a[i * columns + j] * x[j];
        }

#pragma omp target teams distribute parallel for num_teams(column_teams) thread_limit(column_threads)
        for (int j = 0; j < columns; j++) {
            y[j] = 0;
            for (int i = 0; i < rows; i++)
                y[j] += a[i * columns + j] * tmp[i];
        }
    }
}
