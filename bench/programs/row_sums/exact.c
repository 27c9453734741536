#include "program.h"
#include "row_sums.h"

// One thread a row, as in pragmas.c, the sum unrolled, so that more sectors of a row are under way: with few rows it is their
// delay that takes the time. Where rows begin on a border of four elements a thread loads four at a time, which use up the sectors that
// it asks for. A block of one warp of which one thread works is as fast as a block of one thread.
enum { PROCESSORS = 132, BLOCKS = 16 * PROCESSORS, THREADS = 16 };

static inline float sum_of(int columns, const float *row)
{
    float sum = 0;
#pragma omp unroll partial(64)
    for (int j = 0; j < columns; j++)
        sum += row[j];
    return sum;
}

static inline float sum_of_quads(int columns, const float *row)
{
    return sum_of(columns, __builtin_assume_aligned(row, 16));
}

void row_sums(int rows, int columns, const float *a, float *sums)
{
    int quads = tunable("quads", columns % 4 == 0);
    int few = rows <= BLOCKS * THREADS;
    int each = few ? (rows + BLOCKS - 1) / BLOCKS : THREADS;
    int teams = (rows + each - 1) / each;
#pragma omp target teams distribute parallel for num_teams(teams) thread_limit(THREADS) dist_schedule(static, each) \
    map(to: a[0:rows * columns]) map(from: sums[0:rows])
    for (int i = 0; i < rows; i++) {
        const float *row = a + i * columns;
        sums[i] = quads ? sum_of_quads(columns, row) : sum_of(columns, row);
    }
}
