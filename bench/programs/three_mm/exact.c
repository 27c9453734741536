#include "three_mm.h"

// As ceiling.c, which keeps all bits too, with smaller tiles, so that the last product has threads enough, in blocks of one warp whose
// limit is compiled in. The two independent products share one kernel.
enum { ROWS = 1, COLUMNS = 2, WIDTH = 32 };

// The tile of out = left right that belongs to a group of rows and a lane.
static inline void multiply_tile(int n, int group, int lane, const float *left, const float *right, float *out)
{
    int row = group * ROWS;
    int column = lane / WIDTH * (WIDTH * COLUMNS) + lane % WIDTH;
    int start[ROWS], columns[COLUMNS];
    float sum[ROWS][COLUMNS];
#pragma omp unroll full
    for (int r = 0; r < ROWS; r++) {
        start[r] = (row + r < n ? row + r : n - 1) * n;
        for (int q = 0; q < COLUMNS; q++)
            sum[r][q] = 0;
    }
    for (int q = 0; q < COLUMNS; q++)
        columns[q] = column + q * WIDTH < n ? column + q * WIDTH : n - 1;
#pragma omp unroll partial(8)
    for (int k = 0; k < n; k++)
#pragma omp unroll full
        for (int r = 0; r < ROWS; r++)
            for (int q = 0; q < COLUMNS; q++)
                sum[r][q] += left[start[r] + k] * right[k * n + columns[q]];
#pragma omp unroll full
    for (int r = 0; r < ROWS; r++)
        for (int q = 0; q < COLUMNS; q++)
            if (row + r < n && column + q * WIDTH < n)
                out[start[r] + columns[q]] = sum[r][q];
}

void three_mm(int n, const float *a, const float *b, const float *c, const float *d, float *e, float *f, float *g)
{
    int groups = (n + ROWS - 1) / ROWS;
    int lanes = (n + WIDTH * COLUMNS - 1) / (WIDTH * COLUMNS) * WIDTH;
    int teams = (groups * lanes + WIDTH - 1) / WIDTH;
    int both = (2 * groups * lanes + WIDTH - 1) / WIDTH;
#pragma omp target data map(to: a[0:n * n], b[0:n * n], c[0:n * n], d[0:n * n]) \
    map(from: e[0:n * n], f[0:n * n], g[0:n * n])
    {
#pragma omp target teams distribute parallel for collapse(3) num_teams(both) thread_limit(WIDTH)
        for (int product = 0; product < 2; product++)
            for (int group = 0; group < groups; group++)
                for (int lane = 0; lane < lanes; lane++)
                    multiply_tile(n, group, lane, product ? c : a, product ? d : b, product ? f : e);

#pragma omp target teams distribute parallel for collapse(2) num_teams(teams) thread_limit(WIDTH)
        for (int group = 0; group < groups; group++)
            for (int lane = 0; lane < lanes; lane++)
                multiply_tile(n, group, lane, e, f, g);
    }
}
