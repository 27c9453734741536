#include "two_mm.h"
#include "program.h"

// Two kernels in one data environment. A thread computes a tile of ROWS x COLUMNS elements in registers, so that each
// element it loads serves several times; its columns lie a warp's width apart, so that neighbouring threads read
// neighbouring elements. Tiles that stick out repeat the last row or column and do not store it.
enum { ROWS = 2, COLUMNS = 2, WIDTH = 32 };

// out = scale left right + keep out; with keep = 0, what is in `out` is not read.
static void multiply(int n, float scale, const float *left, const float *right, float keep, float *out)
{
    int threads = tunable("threads", 128);
    int groups = (n + ROWS - 1) / ROWS;
    int lanes = (n + WIDTH * COLUMNS - 1) / (WIDTH * COLUMNS) * WIDTH;
    int teams = (groups * lanes + threads - 1) / threads;
#pragma omp target teams distribute parallel for collapse(2) num_teams(teams) thread_limit(threads)
    for (int group = 0; group < groups; group++)
        for (int lane = 0; lane < lanes; lane++) {
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
#pragma omp unroll partial(4)
            for (int k = 0; k < n; k++)
#pragma omp unroll full
                for (int r = 0; r < ROWS; r++)
                    for (int q = 0; q < COLUMNS; q++)
                        sum[r][q] += left[start[r] + k] * right[k * n + columns[q]];
#pragma omp unroll full
            for (int r = 0; r < ROWS; r++)
                for (int q = 0; q < COLUMNS; q++)
                    if (row + r < n && column + q * WIDTH < n) {
                        float before = keep == 0 ? 0 : keep * out[start[r] + columns[q]];
                        out[start[r] + columns[q]] = scale * sum[r][q] + before;
                    }
        }
}

void two_mm(int n, float alpha, float beta, const float *a, const float *b, const float *c, float *tmp, float *d)
{
#pragma omp target data map(to: a[0:n * n], b[0:n * n], c[0:n * n]) map(alloc: tmp[0:n * n]) map(tofrom: d[0:n * n])
    {
        multiply(n, alpha, a, b, 0, tmp);
        multiply(n, 1, tmp, c, beta, d);
    }
}
