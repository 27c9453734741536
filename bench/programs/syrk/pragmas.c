#include "syrk.h"
#include "program.h"

// The loops split, in one data environment, each with its two outer loops collapsed: one element a thread and the full
// grid, which fewer threads did not beat.
void syrk(int n, int m, float alpha, float beta, const float *a, float *c)
{
    int scale_threads = tunable("scale_threads", 128);
    int threads = tunable("threads", 64);
    int scale_teams = (n * n + scale_threads - 1) / scale_threads;
    int teams = tunable("teams", (n * n + threads - 1) / threads);
#pragma omp target data map(to: a[0:n * m]) map(tofrom: c[0:n * n])
    {
#pragma omp target teams distribute parallel for collapse(2) num_teams(scale_teams) thread_limit(scale_threads)
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                c[i * n + j] *= beta;

#pragma omp target teams distribute parallel for collapse(2) num_teams(teams) thread_limit(threads)
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                for (int k = 0; k < m; k++)
                    c[i * n + j] += alpha * a[i * m + k] * a[j * m + k];
    }
}
