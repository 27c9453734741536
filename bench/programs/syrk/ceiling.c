#include "syrk.h"
#include "program.h"

#include <stdlib.h>

// The matrix is transposed and packed first, in quads of neighbouring rows: both factors are then read by aligned loads
// of four floats, those of neighbouring threads side by side. A thread computes a tile of 4 ROW_QUADS x 4 elements in
// registers; k is cut into parts, so that there are threads enough, and their shares meet in atomic additions.
enum { ROW_QUADS = 1, ROWS = 4 * ROW_QUADS };

struct quad {
    _Alignas(16) float v[4];
};

void syrk(int n, int m, float alpha, float beta, const float *a, float *c)
{
    int threads = tunable("threads", 32);
    int pack_threads = tunable("pack_threads", 256);
    int part = tunable("part", 64);
    int parts = (m + part - 1) / part;
    int quads = (n + 3) / 4;
    int groups = (quads + ROW_QUADS - 1) / ROW_QUADS;
    int packs = quads * m;
    int steps = packs + n * n;
    int pack_teams = (steps + pack_threads - 1) / pack_threads;
    int teams = (parts * groups * quads + threads - 1) / threads;
    struct quad *packed = malloc((size_t)packs * sizeof *packed);
#pragma omp target data map(to: a[0:n * m]) map(tofrom: c[0:n * n]) map(alloc: packed[0:packs])
    {
        // One kernel for both preparations; a quad that sticks out repeats the last row.
#pragma omp target teams distribute parallel for num_teams(pack_teams) thread_limit(pack_threads)
        for (int step = 0; step < steps; step++) {
            if (step < packs) {
                int row = step / m * 4;
                int k = step % m;
                struct quad rows;
                for (int r = 0; r < 4; r++)
                    rows.v[r] = a[(row + r < n ? row + r : n - 1) * m + k];
                packed[k * quads + row / 4] = rows;
            } else {
                c[step - packs] *= beta;
            }
        }

#pragma omp target teams distribute parallel for collapse(3) num_teams(teams) thread_limit(threads)
        for (int p = 0; p < parts; p++)
            for (int group = 0; group < groups; group++)
                for (int lane = 0; lane < quads; lane++) {
                    int end = (p + 1) * part < m ? (p + 1) * part : m;
                    int first[ROW_QUADS];
                    float sum[ROWS][4];
                    for (int g = 0; g < ROW_QUADS; g++)
                        first[g] = group * ROW_QUADS + g < quads ? group * ROW_QUADS + g : quads - 1;
#pragma omp unroll full
                    for (int r = 0; r < ROWS; r++)
                        for (int q = 0; q < 4; q++)
                            sum[r][q] = 0;
#pragma omp unroll partial(4)
                    for (int k = p * part; k < end; k++) {
                        struct quad right = packed[k * quads + lane];
#pragma omp unroll full
                        for (int g = 0; g < ROW_QUADS; g++) {
                            struct quad left = packed[k * quads + first[g]];
                            for (int r = 0; r < 4; r++)
                                for (int q = 0; q < 4; q++)
                                    sum[g * 4 + r][q] += left.v[r] * right.v[q];
                        }
                    }
#pragma omp unroll full
                    for (int r = 0; r < ROWS; r++)
#pragma omp unroll full
                        for (int q = 0; q < 4; q++) {
                            int i = group * ROWS + r;
                            int j = lane * 4 + q;
                            if (i < n && j < n) {
#pragma omp atomic
                                c[i * n + j] += alpha * sum[r][q];
                            }
                        }
                }
    }
    free(packed);
}
