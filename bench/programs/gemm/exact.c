#include "gemm.h"

// A strip of 32 columns after the other, so that the blocks that run at the same time share what they read of b; the sum
// unrolled, so that more loads are under way.
enum { STRIP = 32 };

void gemm(int n, float alpha, float beta, const float *a, const float *b, float *c)
{
    int strips = (n + STRIP - 1) / STRIP;
    int teams = strips * n;
#pragma omp target teams distribute parallel for collapse(3) num_teams(teams) thread_limit(STRIP) \
    map(to: a[0:n * n], b[0:n * n]) map(tofrom: c[0:n * n])
    for (int strip = 0; strip < strips; strip++)
        for (int i = 0; i < n; i++)
            for (int column = 0; column < STRIP; column++) {
                int j = strip * STRIP + column;
                if (j < n) {
                    float sum = beta * c[i * n + j];
#pragma omp unroll partial(16)
                    for (int k = 0; k < n; k++)
                        sum += alpha * a[i * n + k] * b[k * n + j];
                    c[i * n + j] = sum;
                }
            }
}
