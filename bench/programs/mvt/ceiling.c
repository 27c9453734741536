#include "mvt.h"
#include "program.h"

// One pass over the matrix for both products. A row of `lanes` threads takes ROWS rows of the matrix: neighbouring
// threads read neighbouring columns, keep their share of each row's sum in registers, and add a column's ROWS elements
// with one atomic addition.
enum { ROWS = 8 };

void mvt(int n, const float *a, const float *y1, const float *y2, float *x1, float *x2)
{
    int threads = tunable("threads", 128);
    int lanes = tunable("lanes", 128);
    int groups = (n + ROWS - 1) / ROWS;
    int teams = (groups * lanes + threads - 1) / threads;
#pragma omp target teams distribute parallel for collapse(2) num_teams(teams) thread_limit(threads) \
    map(to: a[0:n * n], y1[0:n], y2[0:n]) map(tofrom: x1[0:n], x2[0:n])
    for (int group = 0; group < groups; group++)
        for (int lane = 0; lane < lanes; lane++) {
            // The last group may repeat the last row, with a weight of zero.
            int start[ROWS];
            float weight[ROWS], sum[ROWS];
#pragma omp unroll full
            for (int k = 0; k < ROWS; k++) {
                int i = group * ROWS + k;
                start[k] = (i < n ? i : n - 1) * n;
                weight[k] = i < n ? y2[i] : 0;
                sum[k] = 0;
            }
#pragma omp unroll partial(2)
            for (int j = lane; j < n; j += lanes) {
                float y1j = y1[j];
                float column = 0;
#pragma omp unroll full
                for (int k = 0; k < ROWS; k++) {
                    float element = a[start[k] + j];
                    sum[k] += element * y1j;
                    column += element * weight[k];
                }
#pragma omp atomic
                x2[j] += column;
            }
#pragma omp unroll full
            for (int k = 0; k < ROWS; k++)
                if (group * ROWS + k < n) {
#pragma omp atomic
                    x1[group * ROWS + k] += sum[k];
                }
        }
}
