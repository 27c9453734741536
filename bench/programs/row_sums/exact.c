#include "row_sums.h"

// One thread a row, as in pragmas.c, the sum unrolled, so that more sectors of a row are under way: with few rows it is their
// delay that takes the time. A block of one warp of which one thread works is as fast as a block of one thread.
enum { PROCESSORS = 132, BLOCKS = 16 * PROCESSORS, THREADS = 16 };

void row_sums(int rows, int columns, const float *a, float *sums)
{
    int few = rows <= BLOCKS * THREADS;
    int each = few ? (rows + BLOCKS - 1) / BLOCKS : THREADS;
    int teams = (rows + each - 1) / each;
#pragma omp target teams distribute parallel for num_teams(teams) thread_limit(THREADS) dist_schedule(static, each) \
    map(to: a[0:rows * columns]) map(from: sums[0:rows])
    for (int i = 0; i < rows; i++) {
        float sum = 0;
#pragma omp unroll partial(64)
        for (int j = 0; j < columns; j++)
            sum += a[i * columns + j];
        sums[i] = sum;
    }
}
