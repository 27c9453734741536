#include "two_mm.h"

// The products split, in one data environment, each with its two loops collapsed: one element a thread, in blocks of one warp.
void two_mm(int n, float alpha, float beta, const float *a, const float *b, const float *c, float *tmp, float *d)
{
    int teams = (n * n + 31) / 32;
#pragma omp target data map(to: a[0:n * n], b[0:n * n], c[0:n * n]) map(alloc: tmp[0:n * n]) map(tofrom: d[0:n * n])
    {
#pragma omp target teams distribute parallel for collapse(2) num_teams(teams) thread_limit(32)
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) {
                float sum = 0;
                for (int k = 0; k < n; k++)
                    sum += alpha * a[i * n + k] * b[k * n + j];
                tmp[i * n + j] = sum;
            }

#pragma omp target teams distribute parallel for collapse(2) num_teams(teams) thread_limit(32)
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) {
                float sum = beta * d[i * n + j];
                for (int k = 0; k < n; k++)
                    sum += tmp[i * n + k] * c[k * n + j];
                d[i * n + j] = sum;
            }
    }
}
