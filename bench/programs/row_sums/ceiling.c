#include "program.h"
#include "row_sums.h"

// A team for each long row, whose threads read neighbouring elements. Few rows need many threads each to fill the
// device.
static void team_a_row(int rows, int columns, const float *a, float *sums)
{
    int threads = tunable("threads", rows <= 1024 ? 256 : rows <= 4096 ? 128 : 64);
#pragma omp target teams distribute num_teams(rows) thread_limit(threads) \
    map(to: a[0:rows * columns]) map(from: sums[0:rows])
    for (int i = 0; i < rows; i++) {
        float sum = 0;
#pragma omp parallel for reduction(+ : sum)
        for (int j = 0; j < columns; j++)
            sum += a[i * columns + j];
        sums[i] = sum;
    }
}

// A few lanes for each short row, which take every lanes-th element; their sums meet in one atomic addition each. The
// lines that a warp has loaded stay in the cache until they are used up.
static void lanes_a_row(int rows, int columns, const float *a, float *sums)
{
    int threads = tunable("threads", 128);
    int lanes = tunable("lanes", 4);
    if (lanes > columns)
        lanes = columns;
    int clear_teams = (rows + threads - 1) / threads;
    int teams = (rows * lanes + threads - 1) / threads;
#pragma omp target data map(to: a[0:rows * columns]) map(from: sums[0:rows])
    {
#pragma omp target teams distribute parallel for num_teams(clear_teams) thread_limit(threads)
        for (int i = 0; i < rows; i++)
            sums[i] = 0;

#pragma omp target teams distribute parallel for collapse(2) num_teams(teams) thread_limit(threads)
        for (int i = 0; i < rows; i++)
            for (int lane = 0; lane < lanes; lane++) {
                float sum = 0;
                for (int j = lane; j < columns; j += lanes)
                    sum += a[i * columns + j];
#pragma omp atomic
                sums[i] += sum;
            }
    }
}

void row_sums(int rows, int columns, const float *a, float *sums)
{
    if (columns >= 2048)
        team_a_row(rows, columns, a, sums);
    else
        lanes_a_row(rows, columns, a, sums);
}
