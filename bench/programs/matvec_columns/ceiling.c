#include "matvec_columns.h"
#include "program.h"

// Neighbouring threads read neighbouring elements as they are; what the loop lacks is threads. So the columns are cut
// into parts whose sums meet in one atomic addition each.
void matvec_columns(int rows, int columns, const float *a, const float *x, float *y)
{
    int threads = tunable("threads", 128);
    int part = tunable("part", 128);
    int parts = (columns + part - 1) / part;
    int clear_teams = (rows + threads - 1) / threads;
    int teams = (parts * rows + threads - 1) / threads;
#pragma omp target data map(to: a[0:rows * columns], x[0:columns]) map(from: y[0:rows])
    {
#pragma omp target teams distribute parallel for num_teams(clear_teams) thread_limit(threads)
        for (int i = 0; i < rows; i++)
            y[i] = 0;

#pragma omp target teams distribute parallel for collapse(2) num_teams(teams) thread_limit(threads)
        for (int p = 0; p < parts; p++)
            for (int i = 0; i < rows; i++) {
                int end = (p + 1) * part < columns ? (p + 1) * part : columns;
                float sum = 0;
                for (int j = p * part; j < end; j++)
                    sum += a[j * rows + i] * x[j];
#pragma omp atomic
                y[i] += sum;
            }
    }
}
