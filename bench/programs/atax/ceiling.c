#include "atax.h"
#include "program.h"

// A team for each row, whose threads read neighbouring elements. The columns are coalesced as they are; what they lack
// is threads, so that their rows are cut into parts whose sums meet in one atomic addition each.
void atax(int rows, int columns, const float *a, const float *x, float *tmp, float *y)
{
    int row_threads = tunable("row_threads", 256);
    int column_threads = tunable("column_threads", 64);
    int part = tunable("part", 64);
    int parts = (rows + part - 1) / part;
#pragma omp target data map(to: a[0:rows * columns], x[0:columns]) map(from: tmp[0:rows], y[0:columns])
    {
#pragma omp target teams distribute num_teams(rows) thread_limit(row_threads)
        for (int i = 0; i < rows; i++) {
            float sum = 0;
#pragma omp parallel for reduction(+ : sum)
            for (int j = 0; j < columns; j++)
                sum += a[i * columns + j] * x[j];
            tmp[i] = sum;
        }

#pragma omp target teams distribute parallel for thread_limit(column_threads)
        for (int j = 0; j < columns; j++)
            y[j] = 0;

        int teams = (parts * columns + column_threads - 1) / column_threads;
#pragma omp target teams distribute parallel for collapse(2) num_teams(teams) thread_limit(column_threads)
        for (int p = 0; p < parts; p++)
            for (int j = 0; j < columns; j++) {
                int end = (p + 1) * part < rows ? (p + 1) * part : rows;
                float sum = 0;
                for (int i = p * part; i < end; i++)
                    sum += a[i * columns + j] * tmp[i];
#pragma omp atomic
                y[j] += sum;
            }
    }
}
