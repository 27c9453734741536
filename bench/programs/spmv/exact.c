#include "program.h"
#include "spmv.h"

// One thread a row, in the order of the row, the sum unrolled, so that more loads are under way.
void spmv(int rows, int columns, const int *start, const int *column, const float *value, const float *x, float *y)
{
    int nonzeros = start[rows];
    int threads = tunable("threads", 64);
    int teams = (rows + threads - 1) / threads;
#pragma omp target teams distribute parallel for num_teams(teams) thread_limit(threads) \
    map(to: start[0:rows + 1], column[0:nonzeros], value[0:nonzeros], x[0:columns]) map(from: y[0:rows])
    for (int i = 0; i < rows; i++) {
        int end = start[i + 1];
        float sum = 0;
#pragma omp unroll partial(8)
        for (int k = start[i]; k < end; k++)
            sum += value[k] * x[column[k]];
        y[i] = sum;
    }
}
