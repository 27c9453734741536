#include "two_mm.h"

// The products split, in one data environment. A thread makes four elements of a row in registers, so that an element
// of the left factor serves four times; its columns lie a warp's width apart, so that neighbouring threads read neighbouring elements.
// What sticks out repeats the last column and is not stored. Each element keeps its sum and the order of it.
enum { ROWS = 1, COLUMNS = 4, WIDTH = 32 };

// The rows and columns of a tile.
static inline void place_tile(int n, int group, int lane, int *row, int *column)
{
    for (int r = 0; r < ROWS; r++)
        row[r] = group * ROWS + r < n ? group * ROWS + r : n - 1;
    for (int q = 0; q < COLUMNS; q++) {
        int j = lane / WIDTH * (WIDTH * COLUMNS) + lane % WIDTH + q * WIDTH;
        column[q] = j < n ? j : n - 1;
    }
}

// Whether an element of a tile is in the matrix.
static inline int is_inside(int n, int group, int lane, int r, int q)
{
    return group * ROWS + r < n && lane / WIDTH * (WIDTH * COLUMNS) + lane % WIDTH + q * WIDTH < n;
}

void two_mm(int n, float alpha, float beta, const float *a, const float *b, const float *c, float *tmp, float *d)
{
    int groups = (n + ROWS - 1) / ROWS;
    int lanes = (n + WIDTH * COLUMNS - 1) / (WIDTH * COLUMNS) * WIDTH;
    int teams = (groups * lanes + WIDTH - 1) / WIDTH;
#pragma omp target data map(to: a[0:n * n], b[0:n * n], c[0:n * n]) map(alloc: tmp[0:n * n]) map(tofrom: d[0:n * n])
    {
#pragma omp target teams distribute parallel for collapse(2) num_teams(teams) thread_limit(WIDTH)
        for (int group = 0; group < groups; group++)
            for (int lane = 0; lane < lanes; lane++) {
                int row[ROWS], column[COLUMNS];
                float sum[ROWS][COLUMNS];
                place_tile(n, group, lane, row, column);
                for (int r = 0; r < ROWS; r++)
                    for (int q = 0; q < COLUMNS; q++)
                        sum[r][q] = 0;
#pragma omp unroll partial(8)
                for (int k = 0; k < n; k++)
                    for (int r = 0; r < ROWS; r++)
                        for (int q = 0; q < COLUMNS; q++)
                            sum[r][q] += alpha * a[row[r] * n + k] * b[k * n + column[q]];
                for (int r = 0; r < ROWS; r++)
                    for (int q = 0; q < COLUMNS; q++)
                        if (is_inside(n, group, lane, r, q))
                            tmp[row[r] * n + column[q]] = sum[r][q];
            }

#pragma omp target teams distribute parallel for collapse(2) num_teams(teams) thread_limit(WIDTH)
        for (int group = 0; group < groups; group++)
            for (int lane = 0; lane < lanes; lane++) {
                int row[ROWS], column[COLUMNS];
                float sum[ROWS][COLUMNS];
                place_tile(n, group, lane, row, column);
                for (int r = 0; r < ROWS; r++)
                    for (int q = 0; q < COLUMNS; q++)
                        sum[r][q] = beta * d[row[r] * n + column[q]];
#pragma omp unroll partial(8)
                for (int k = 0; k < n; k++)
                    for (int r = 0; r < ROWS; r++)
                        for (int q = 0; q < COLUMNS; q++)
                            sum[r][q] += tmp[row[r] * n + k] * c[k * n + column[q]];
                for (int r = 0; r < ROWS; r++)
                    for (int q = 0; q < COLUMNS; q++)
                        if (is_inside(n, group, lane, r, q))
                            d[row[r] * n + column[q]] = sum[r][q];
            }
    }
}
