#include "mvt.h"
#include "program.h"

// The loops split, in one data environment. A team for each row, whose threads read neighbouring elements and reduce
// into an array section of one element. Blocks of one warp for the columns, so that they reach all multiprocessors.
void mvt(int n, const float *a, const float *y1, const float *y2, float *x1, float *x2)
{
    int row_threads = tunable("row_threads", 256);
    int column_threads = tunable("column_threads", 32);
    int column_teams = (n + column_threads - 1) / column_threads;
#pragma omp target data map(to: a[0:n * n], y1[0:n], y2[0:n]) map(tofrom: x1[0:n], x2[0:n])
    {
#pragma omp target teams distribute num_teams(n) thread_limit(row_threads)
        for (int i = 0; i < n; i++)
#pragma omp parallel for reduction(+ : x1[i:1])
            for (int j = 0; j < n; j++)
                x1[i] += a[i * n + j] * y1[j];

#pragma omp target teams distribute parallel for num_teams(column_teams) thread_limit(column_threads)
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                x2[i] += a[j * n + i] * y2[j];
    }
}
