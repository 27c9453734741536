#include "three_mm.h"
#include "program.h"

// The products split, in one data environment, each with its two loops collapsed: one element a thread.
void three_mm(int n, const float *a, const float *b, const float *c, const float *d, float *e, float *f, float *g)
{
    int threads = tunable("threads", 64);
    int teams = (n * n + threads - 1) / threads;
#pragma omp target data map(to: a[0:n * n], b[0:n * n], c[0:n * n], d[0:n * n]) \
    map(from: e[0:n * n], f[0:n * n], g[0:n * n])
    {
#pragma omp target teams distribute parallel for collapse(2) num_teams(teams) thread_limit(threads)
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) {
                e[i * n + j] = 0;
                for (int k = 0; k < n; k++)
                    e[i * n + j] += a[i * n + k] * b[k * n + j];
            }

#pragma omp target teams distribute parallel for collapse(2) num_teams(teams) thread_limit(threads)
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) {
                f[i * n + j] = 0;
                for (int k = 0; k < n; k++)
                    f[i * n + j] += c[i * n + k] * d[k * n + j];
            }

#pragma omp target teams distribute parallel for collapse(2) num_teams(teams) thread_limit(threads)
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) {
                g[i * n + j] = 0;
                for (int k = 0; k < n; k++)
                    g[i * n + j] += e[i * n + k] * f[k * n + j];
            }
    }
}
