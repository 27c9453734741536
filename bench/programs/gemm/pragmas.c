#include "gemm.h"

// Both loops collapsed, one element a thread; neighbouring threads take neighbouring columns. A block of one warp, whose
// limit is compiled in, has no barrier to wait at.
void gemm(int n, float alpha, float beta, const float *a, const float *b, float *c)
{
    int teams = (n * n + 31) / 32;
#pragma omp target teams distribute parallel for collapse(2) num_teams(teams) thread_limit(32) \
    map(to: a[0:n * n], b[0:n * n]) map(tofrom: c[0:n * n])
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            float sum = beta * c[i * n + j];
            for (int k = 0; k < n; k++)
                sum += alpha * a[i * n + k] * b[k * n + j];
            c[i * n + j] = sum;
        }
}
