#include "bicg.h"
#include "program.h"

// The loops split, in one data environment. A team for each row, whose threads read neighbouring elements and reduce
// into an array section of one element. Blocks of one warp for the columns, so that they reach all multiprocessors.
void bicg(int rows, int columns, const float *a, const float *p, const float *r, float *q, float *s)
{
    int row_threads = tunable("row_threads", 256);
    int column_threads = tunable("column_threads", 32);
    int column_teams = (columns + column_threads - 1) / column_threads;
#pragma omp target data map(to: a[0:rows * columns], p[0:columns], r[0:rows]) map(from: q[0:rows], s[0:columns])
    {
#pragma omp target teams distribute parallel for num_teams(column_teams) thread_limit(column_threads)
        for (int j = 0; j < columns; j++) {
            s[j] = 0;
            for (int i = 0; i < rows; i++)
                s[j] += r[i] * a[i * columns + j];
        }

#pragma omp target teams distribute num_teams(rows) thread_limit(row_threads)
        for (int i = 0; i < rows; i++) {
            q[i] = 0;
#pragma omp parallel for reduction(+ : q[i:1])
            for (int j = 0; j < columns; j++)
                q[i] += a[i * columns + j] * p[j];
        }
    }
}
