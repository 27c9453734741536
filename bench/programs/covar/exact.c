#include "covar.h"
#include "program.h"

// The loops split, in one data environment. The means are few: blocks of one warp reach all multiprocessors, and their sums are
// unrolled, so that more loads are under way. Of the covariances a thread makes a tile of 2 x 2 in registers, so that each element
// it loads serves twice; its columns lie a warp's width apart, so that neighbouring threads read neighbouring elements. Tiles below
// the diagonal are left out; those that stick out repeat the last feature and do not store it. Each element keeps its sum and the
// order of it.
enum { ROWS = 2, COLUMNS = 2, WIDTH = 32 };

void covar(int points, int features, float *data, float *mean, float *covariance)
{
    int mean_threads = tunable("mean_threads", 8);
    int centre_threads = tunable("centre_threads", 128);
    int groups = (features + ROWS - 1) / ROWS;
    int lanes = (features + WIDTH * COLUMNS - 1) / (WIDTH * COLUMNS) * WIDTH;
    int mean_teams = (features + mean_threads - 1) / mean_threads;
    int centre_teams = (points * features + centre_threads - 1) / centre_threads;
    int teams = (groups * lanes + WIDTH - 1) / WIDTH;
#pragma omp target data map(tofrom: data[0:points * features]) \
    map(from: mean[0:features], covariance[0:features * features])
    {
#pragma omp target teams distribute parallel for num_teams(mean_teams) thread_limit(mean_threads)
        for (int j = 0; j < features; j++) {
            float sum = 0;
#pragma omp unroll partial(32)
            for (int i = 0; i < points; i++)
                sum += data[i * features + j];
            sum /= points;
            mean[j] = sum;
        }

#pragma omp target teams distribute parallel for collapse(2) num_teams(centre_teams) thread_limit(centre_threads)
        for (int i = 0; i < points; i++)
            for (int j = 0; j < features; j++)
                data[i * features + j] -= mean[j];

#pragma omp target teams distribute parallel for collapse(2) num_teams(teams) thread_limit(WIDTH)
        for (int group = 0; group < groups; group++)
            for (int lane = 0; lane < lanes; lane++) {
                int first = lane / WIDTH * (WIDTH * COLUMNS) + lane % WIDTH;
                if (first + (COLUMNS - 1) * WIDTH < group * ROWS)
                    continue;
                int row[ROWS], column[COLUMNS];
                float sum[ROWS][COLUMNS];
                for (int r = 0; r < ROWS; r++)
                    row[r] = group * ROWS + r < features ? group * ROWS + r : features - 1;
                for (int q = 0; q < COLUMNS; q++)
                    column[q] = first + q * WIDTH < features ? first + q * WIDTH : features - 1;
                for (int r = 0; r < ROWS; r++)
                    for (int q = 0; q < COLUMNS; q++)
                        sum[r][q] = 0;
#pragma omp unroll partial(8)
                for (int i = 0; i < points; i++)
                    for (int r = 0; r < ROWS; r++)
                        for (int q = 0; q < COLUMNS; q++)
                            sum[r][q] += data[i * features + row[r]] * data[i * features + column[q]];
                for (int r = 0; r < ROWS; r++)
                    for (int q = 0; q < COLUMNS; q++) {
                        int j1 = group * ROWS + r, j2 = first + q * WIDTH;
                        if (j1 <= j2 && j2 < features) {
                            float share = sum[r][q] / (points - 1);
                            covariance[j1 * features + j2] = share;
                            covariance[j2 * features + j1] = share;
                        }
                    }
            }
    }
}
