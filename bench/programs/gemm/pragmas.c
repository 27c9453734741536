#include "gemm.h"
#include "program.h"

// Both loops collapsed, one element a thread; neighbouring threads take neighbouring columns.
void gemm(int n, float alpha, float beta, const float *a, const float *b, float *c)
{
    int threads = tunable("threads", 256);
    int teams = (n * n + threads - 1) / threads;
#pragma omp target teams distribute parallel for collapse(2) num_teams(teams) thread_limit(threads) \
    map(to: a[0:n * n], b[0:n * n]) map(tofrom: c[0:n * n])
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            float sum = beta * c[i * n + j];
            for (int k = 0; k < n; k++)
                sum += alpha * a[i * n + k] * b[k * n + j];
            c[i * n + j] = sum;
        }
}
