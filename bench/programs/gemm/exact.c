#include "gemm.h"
#include "program.h"

// Large matrices: a thread makes a tile of 8 x 8 elements in registers, so that each element it loads serves eight times; its
// columns lie a warp's width apart, so that neighbouring threads read neighbouring elements. A team takes `PATCH` such rows of
// tiles of the same columns, which share what they read of b by way of the first-level cache. Each element keeps its sum and the
// order of it.
enum { ROWS = 8, COLUMNS = 8, WIDTH = 32, BLOCK = COLUMNS * WIDTH, PATCH = 4 };

static void in_tiles(int n, float alpha, float beta, const float *a, const float *b, float *c)
{
    int patches = (n + PATCH * ROWS - 1) / (PATCH * ROWS);
    int blocks = (n + BLOCK - 1) / BLOCK;
    int teams = patches * blocks;
#pragma omp target teams distribute parallel for collapse(4) num_teams(teams) thread_limit(PATCH * WIDTH) \
    map(to: a[0:n * n], b[0:n * n]) map(tofrom: c[0:n * n])
    for (int patch = 0; patch < patches; patch++)
        for (int block = 0; block < blocks; block++)
            for (int group = 0; group < PATCH; group++)
                for (int lane = 0; lane < WIDTH; lane++) {
                    int row = (patch * PATCH + group) * ROWS;
                    int column = block * BLOCK + lane;
                    if (n - row >= ROWS && n - block * BLOCK >= BLOCK) {
                        float sum[ROWS][COLUMNS];
#pragma omp unroll full
                        for (int r = 0; r < ROWS; r++)
#pragma omp unroll full
                            for (int q = 0; q < COLUMNS; q++)
                                sum[r][q] = beta * c[(row + r) * n + column + q * WIDTH];
                        for (int k = 0; k < n; k++)
#pragma omp unroll full
                            for (int r = 0; r < ROWS; r++)
#pragma omp unroll full
                                for (int q = 0; q < COLUMNS; q++)
                                    sum[r][q] += alpha * a[(row + r) * n + k] * b[k * n + column + q * WIDTH];
#pragma omp unroll full
                        for (int r = 0; r < ROWS; r++)
#pragma omp unroll full
                            for (int q = 0; q < COLUMNS; q++)
                                c[(row + r) * n + column + q * WIDTH] = sum[r][q];
                    } else {
                        for (int i = row; i < row + ROWS && i < n; i++)
                            for (int j = column; j < (block + 1) * BLOCK && j < n; j += WIDTH) {
                                float sum = beta * c[i * n + j];
                                for (int k = 0; k < n; k++)
                                    sum += alpha * a[i * n + k] * b[k * n + j];
                                c[i * n + j] = sum;
                            }
                    }
                }
}

// Small ones have too few such tiles for all multiprocessors: a thread makes four elements of a row, a warp's width apart, in blocks of
// one warp.
enum { FEW = 4, SMALL_BLOCK = FEW * WIDTH };

static void in_rows(int n, float alpha, float beta, const float *a, const float *b, float *c)
{
    int blocks = (n + SMALL_BLOCK - 1) / SMALL_BLOCK;
    int teams = n * blocks;
#pragma omp target teams distribute parallel for collapse(3) num_teams(teams) thread_limit(WIDTH) \
    map(to: a[0:n * n], b[0:n * n]) map(tofrom: c[0:n * n])
    for (int i = 0; i < n; i++)
        for (int block = 0; block < blocks; block++)
            for (int lane = 0; lane < WIDTH; lane++) {
                int column = block * SMALL_BLOCK + lane;
                if (n - block * SMALL_BLOCK >= SMALL_BLOCK) {
                    float sum[FEW];
#pragma omp unroll full
                    for (int q = 0; q < FEW; q++)
                        sum[q] = beta * c[i * n + column + q * WIDTH];
#pragma omp unroll partial(8)
                    for (int k = 0; k < n; k++)
#pragma omp unroll full
                        for (int q = 0; q < FEW; q++)
                            sum[q] += alpha * a[i * n + k] * b[k * n + column + q * WIDTH];
#pragma omp unroll full
                    for (int q = 0; q < FEW; q++)
                        c[i * n + column + q * WIDTH] = sum[q];
                } else {
                    for (int j = column; j < n; j += WIDTH) {
                        float sum = beta * c[i * n + j];
                        for (int k = 0; k < n; k++)
                            sum += alpha * a[i * n + k] * b[k * n + j];
                        c[i * n + j] = sum;
                    }
                }
            }
}

void gemm(int n, float alpha, float beta, const float *a, const float *b, float *c)
{
    if (n >= tunable("tiles_from", 1024))
        in_tiles(n, alpha, beta, a, b, c);
    else
        in_rows(n, alpha, beta, a, b, c);
}
