#include "program.h"
#include "row_sums.h"

// One thread a row, grid only, as the papers compare it (a nested reduction is quicker, see the ceiling): one thread a
// block while the rows are few, so that all multiprocessors share them, and no more threads resident than lines of
// their rows fit into half of the first-level cache.
enum { PROCESSORS = 132, MOST_BLOCKS = 32, RESIDENT = 1024 };

void row_sums(int rows, int columns, const float *a, float *sums)
{
    int few = rows <= PROCESSORS * MOST_BLOCKS;
    int threads = tunable("threads", few ? 1 : 64);
    int most_teams = tunable("teams", few ? rows : PROCESSORS * RESIDENT / threads);
    int full = (rows + threads - 1) / threads;
    int teams = full < most_teams ? full : most_teams;
#pragma omp target teams distribute parallel for num_teams(teams) thread_limit(threads) \
    map(to: a[0:rows * columns]) map(from: sums[0:rows])
    for (int i = 0; i < rows; i++) {
        float sum = 0;
        for (int j = 0; j < columns; j++)
            sum += a[i * columns + j];
        sums[i] = sum;
    }
}
