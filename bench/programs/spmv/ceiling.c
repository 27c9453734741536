#include "spmv.h"
#include "program.h"

// A team of one warp for each row: its threads read neighbouring elements. No more than 100000 teams, which is far more
// than the device holds at once, so that long rows do not hold up the others.
void spmv(int rows, int columns, const int *start, const int *column, const float *value, const float *x, float *y)
{
    int nonzeros = start[rows];
    int threads = tunable("threads", 32);
    int most_teams = tunable("teams", 100000);
    int teams = rows < most_teams ? rows : most_teams;
#pragma omp target teams distribute num_teams(teams) thread_limit(threads) \
    map(to: start[0:rows + 1], column[0:nonzeros], value[0:nonzeros], x[0:columns]) map(from: y[0:rows])
    for (int i = 0; i < rows; i++) {
        float sum = 0;
#pragma omp parallel for reduction(+ : sum)
        for (int k = start[i]; k < start[i + 1]; k++)
            sum += value[k] * x[column[k]];
        y[i] = sum;
    }
}
