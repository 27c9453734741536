#include "bicg.h"
#include "program.h"

// One pass over the matrix for both products. A row of `lanes` threads takes ROWS rows of the matrix: neighbouring
// threads read neighbouring columns, keep their share of each row's sum in registers, and add a column's ROWS elements
// with one atomic addition. The host writes the zeros: two short copies cost less than one more launch.
enum { ROWS = 8 };

void bicg(int rows, int columns, const float *a, const float *p, const float *r, float *q, float *s)
{
    int threads = tunable("threads", 256);
    int lanes = tunable("lanes", 128);
    int groups = (rows + ROWS - 1) / ROWS;
    int teams = (groups * lanes + threads - 1) / threads;
    for (int i = 0; i < rows; i++)
        q[i] = 0;
    for (int j = 0; j < columns; j++)
        s[j] = 0;
#pragma omp target teams distribute parallel for collapse(2) num_teams(teams) thread_limit(threads) \
    map(to: a[0:rows * columns], p[0:columns], r[0:rows]) map(tofrom: q[0:rows], s[0:columns])
    for (int group = 0; group < groups; group++)
        for (int lane = 0; lane < lanes; lane++) {
            // The last group may repeat the last row, with a weight of zero.
            int start[ROWS];
            float weight[ROWS], sum[ROWS];
#pragma omp unroll full
            for (int k = 0; k < ROWS; k++) {
                int i = group * ROWS + k;
                start[k] = (i < rows ? i : rows - 1) * columns;
                weight[k] = i < rows ? r[i] : 0;
                sum[k] = 0;
            }
#pragma omp unroll partial(2)
            for (int j = lane; j < columns; j += lanes) {
                float pj = p[j];
                float column = 0;
#pragma omp unroll full
                for (int k = 0; k < ROWS; k++) {
                    float element = a[start[k] + j];
                    sum[k] += element * pj;
                    column += element * weight[k];
                }
#pragma omp atomic
                s[j] += column;
            }
#pragma omp unroll full
            for (int k = 0; k < ROWS; k++)
                if (group * ROWS + k < rows) {
#pragma omp atomic
                    q[group * ROWS + k] += sum[k];
                }
        }
}
