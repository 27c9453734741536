#include "matvec_rows.h"
#include "program.h"

// Each row is cut into lanes that take every lanes-th element, so that a warp reads neighbouring elements. The sums of
// the lanes meet in one atomic addition each.
void matvec_rows(int rows, int columns, const float *a, const float *x, float *y)
{
    int threads = tunable("threads", 256);
    int lanes = tunable("lanes", 32);
    if (lanes > columns)
        lanes = columns;
    int clear_teams = (rows + threads - 1) / threads;
    int teams = (rows * lanes + threads - 1) / threads;
#pragma omp target data map(to: a[0:rows * columns], x[0:columns]) map(from: y[0:rows])
    {
#pragma omp target teams distribute parallel for num_teams(clear_teams) thread_limit(threads)
        for (int i = 0; i < rows; i++)
            y[i] = 0;

#pragma omp target teams distribute parallel for collapse(2) num_teams(teams) thread_limit(threads)
        for (int i = 0; i < rows; i++)
            for (int lane = 0; lane < lanes; lane++) {
                float sum = 0;
                for (int j = lane; j < columns; j += lanes)
                    sum += a[i * columns + j] * x[j];
#pragma omp atomic
                y[i] += sum;
            }
    }
}
