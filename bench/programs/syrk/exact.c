#include "program.h"
#include "syrk.h"

#include <stdlib.h>

// The matrix is transposed first, so that both factors are read along rows of the copy. Then one kernel for both loops: a thread
// makes four elements of a row in registers, so that an element of the row serves four times; its columns lie a warp's width apart, so
// that neighbouring threads read neighbouring elements. What sticks out repeats the last column and is not stored. Each element keeps
// its sum and the order of it.
enum { ROWS = 1, COLUMNS = 4, WIDTH = 32 };

void syrk(int n, int m, float alpha, float beta, const float *a, float *c)
{
    int copy_threads = tunable("copy_threads", 256);
    int groups = (n + ROWS - 1) / ROWS;
    int lanes = (n + WIDTH * COLUMNS - 1) / (WIDTH * COLUMNS) * WIDTH;
    int teams = (groups * lanes + WIDTH - 1) / WIDTH;
    int copy_teams = (n * m + copy_threads - 1) / copy_threads;
    float *across = malloc((size_t)n * m * sizeof *across); // only its copy on the device is used
#pragma omp target data map(to: a[0:n * m]) map(tofrom: c[0:n * n]) map(alloc: across[0:n * m])
    {
#pragma omp target teams distribute parallel for collapse(2) num_teams(copy_teams) thread_limit(copy_threads)
        for (int i = 0; i < n; i++)
            for (int k = 0; k < m; k++)
                across[k * n + i] = a[i * m + k];

#pragma omp target teams distribute parallel for collapse(2) num_teams(teams) thread_limit(WIDTH)
        for (int group = 0; group < groups; group++)
            for (int lane = 0; lane < lanes; lane++) {
                int first = lane / WIDTH * (WIDTH * COLUMNS) + lane % WIDTH;
                int row[ROWS], column[COLUMNS];
                float sum[ROWS][COLUMNS];
                for (int r = 0; r < ROWS; r++)
                    row[r] = group * ROWS + r < n ? group * ROWS + r : n - 1;
                for (int q = 0; q < COLUMNS; q++)
                    column[q] = first + q * WIDTH < n ? first + q * WIDTH : n - 1;
                for (int r = 0; r < ROWS; r++)
                    for (int q = 0; q < COLUMNS; q++) {
                        sum[r][q] = c[row[r] * n + column[q]];
                        sum[r][q] *= beta;
                    }
#pragma omp unroll partial(8)
                for (int k = 0; k < m; k++)
                    for (int r = 0; r < ROWS; r++)
                        for (int q = 0; q < COLUMNS; q++)
                            sum[r][q] += alpha * across[k * n + row[r]] * across[k * n + column[q]];
                for (int r = 0; r < ROWS; r++)
                    for (int q = 0; q < COLUMNS; q++)
                        if (group * ROWS + r < n && first + q * WIDTH < n)
                            c[row[r] * n + column[q]] = sum[r][q];
            }
    }
    free(across);
}
