#include "gemm.h"
#include "program.h"

#include <stdlib.h>

// Both factors are packed first, in quads of neighbouring rows of a and of neighbouring columns of b, so that all loads
// are aligned and of four floats. A thread computes a tile of 8 x 8 elements in registers. A patch of 8 x 16 threads
// shares its rows and columns by way of the first-level cache: 64 x 128 elements. k may be cut into parts, so that
// there are threads enough; their shares meet in atomic additions.
enum { QUADS = 2, TILE = 4 * QUADS, PATCH_ROWS = 8, PATCH_COLUMNS = 16, PATCH = PATCH_ROWS * PATCH_COLUMNS };

struct quad {
    _Alignas(16) float v[4];
};

// The packed factors, of `row_quads` and `column_quads` quads for each k; what sticks out repeats the last row or
// column. One kernel scales c too.
static void pack(int n, int row_quads, int column_quads, float beta, const float *a, const float *b, float *c,
                 struct quad *left, struct quad *right)
{
    int threads = tunable("pack_threads", 256);
    int row_steps = row_quads * n;
    int column_steps = column_quads * n;
    int steps = row_steps + column_steps + n * n;
    int teams = (steps + threads - 1) / threads;
#pragma omp target teams distribute parallel for num_teams(teams) thread_limit(threads)
    for (int step = 0; step < steps; step++) {
        struct quad values;
        if (step < row_steps) {
            int row = step / n * 4;
            int k = step % n;
            for (int v = 0; v < 4; v++)
                values.v[v] = a[(row + v < n ? row + v : n - 1) * n + k];
            left[k * row_quads + row / 4] = values;
        } else if (step < row_steps + column_steps) {
            int k = (step - row_steps) / column_quads;
            int column = (step - row_steps) % column_quads * 4;
            for (int v = 0; v < 4; v++)
                values.v[v] = b[k * n + (column + v < n ? column + v : n - 1)];
            right[k * column_quads + column / 4] = values;
        } else {
            c[step - row_steps - column_steps] *= beta;
        }
    }
}

static void multiply(int n, int row_quads, int column_quads, float alpha, const struct quad *left,
                     const struct quad *right, float *c)
{
    int part = tunable("part", n <= 1024 ? 64 : 512);
    int parts = (n + part - 1) / part;
    int patch_rows = row_quads / (QUADS * PATCH_ROWS);
    int patch_columns = column_quads / (QUADS * PATCH_COLUMNS);
    int teams = parts * patch_rows * patch_columns;
#pragma omp target teams distribute parallel for collapse(5) num_teams(teams) thread_limit(PATCH)
    for (int p = 0; p < parts; p++)
        for (int patch_row = 0; patch_row < patch_rows; patch_row++)
            for (int patch_column = 0; patch_column < patch_columns; patch_column++)
                for (int y = 0; y < PATCH_ROWS; y++)
                    for (int x = 0; x < PATCH_COLUMNS; x++) {
                        int end = (p + 1) * part < n ? (p + 1) * part : n;
                        // The quads of a thread lie as far apart as the patch has threads, side by side with those of
                        // its neighbours.
                        int row = patch_row * QUADS * PATCH_ROWS + y;
                        int column = patch_column * QUADS * PATCH_COLUMNS + x;
                        float sum[TILE][TILE];
#pragma omp unroll full
                        for (int r = 0; r < TILE; r++)
#pragma omp unroll full
                            for (int q = 0; q < TILE; q++)
                                sum[r][q] = 0;
#pragma omp unroll partial(2)
                        for (int k = p * part; k < end; k++) {
                            struct quad l[QUADS], m[QUADS];
#pragma omp unroll full
                            for (int g = 0; g < QUADS; g++) {
                                l[g] = left[k * row_quads + row + g * PATCH_ROWS];
                                m[g] = right[k * column_quads + column + g * PATCH_COLUMNS];
                            }
#pragma omp unroll full
                            for (int r = 0; r < TILE; r++)
#pragma omp unroll full
                                for (int q = 0; q < TILE; q++)
                                    sum[r][q] += l[r / 4].v[r % 4] * m[q / 4].v[q % 4];
                        }
#pragma omp unroll full
                        for (int r = 0; r < TILE; r++)
#pragma omp unroll full
                            for (int q = 0; q < TILE; q++) {
                                int i = (row + r / 4 * PATCH_ROWS) * 4 + r % 4;
                                int j = (column + q / 4 * PATCH_COLUMNS) * 4 + q % 4;
                                if (i < n && j < n) {
#pragma omp atomic
                                    c[i * n + j] += alpha * sum[r][q];
                                }
                            }
                    }
}

void gemm(int n, float alpha, float beta, const float *a, const float *b, float *c)
{
    // Whole patches, so that the product needs no care at the edges but for its stores.
    int row_quads = (n + 4 * QUADS * PATCH_ROWS - 1) / (4 * QUADS * PATCH_ROWS) * (QUADS * PATCH_ROWS);
    int column_quads = (n + 4 * QUADS * PATCH_COLUMNS - 1) / (4 * QUADS * PATCH_COLUMNS) * (QUADS * PATCH_COLUMNS);
    struct quad *left = malloc((size_t)row_quads * n * sizeof *left);
    struct quad *right = malloc((size_t)column_quads * n * sizeof *right);
#pragma omp target data map(to: a[0:n * n], b[0:n * n]) map(tofrom: c[0:n * n]) \
    map(alloc: left[0:row_quads * n], right[0:column_quads * n])
    {
        pack(n, row_quads, column_quads, beta, a, b, c, left, right);
        multiply(n, row_quads, column_quads, alpha, left, right, c);
    }
    free(left);
    free(right);
}
