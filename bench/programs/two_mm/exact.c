#include "two_mm.h"

// The products split, in one data environment. A strip of 32 columns after the other, so that the blocks that run at the same
// time share what they read of the right factor; the sums unrolled, so that more loads are under way.
enum { STRIP = 32 };

void two_mm(int n, float alpha, float beta, const float *a, const float *b, const float *c, float *tmp, float *d)
{
    int strips = (n + STRIP - 1) / STRIP;
    int teams = strips * n;
#pragma omp target data map(to: a[0:n * n], b[0:n * n], c[0:n * n]) map(alloc: tmp[0:n * n]) map(tofrom: d[0:n * n])
    {
#pragma omp target teams distribute parallel for collapse(3) num_teams(teams) thread_limit(STRIP)
        for (int strip = 0; strip < strips; strip++)
            for (int i = 0; i < n; i++)
                for (int column = 0; column < STRIP; column++) {
                    int j = strip * STRIP + column;
                    if (j < n) {
                        float sum = 0;
#pragma omp unroll partial(16)
                        for (int k = 0; k < n; k++)
                            sum += alpha * a[i * n + k] * b[k * n + j];
                        tmp[i * n + j] = sum;
                    }
                }

#pragma omp target teams distribute parallel for collapse(3) num_teams(teams) thread_limit(STRIP)
        for (int strip = 0; strip < strips; strip++)
            for (int i = 0; i < n; i++)
                for (int column = 0; column < STRIP; column++) {
                    int j = strip * STRIP + column;
                    if (j < n) {
                        float sum = beta * d[i * n + j];
#pragma omp unroll partial(16)
                        for (int k = 0; k < n; k++)
                            sum += tmp[i * n + k] * c[k * n + j];
                        d[i * n + j] = sum;
                    }
                }
    }
}
