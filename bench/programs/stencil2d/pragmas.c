#include "program.h"
#include "stencil2d.h"

// A launch for each sweep; `collapse(2)` makes all accesses coalesced.
void stencil2d(int n, int steps, float *a, float *b)
{
    int threads = tunable("threads", 256);
    int teams = (n * n - 1) / threads + 1;
#pragma omp target data map(tofrom: a[0:n * n], b[0:n * n])
    {
        for (int t = 0; t < steps; t++) {
#pragma omp target teams distribute parallel for collapse(2) num_teams(teams) thread_limit(threads)
            for (int i = 1; i < n - 1; i++)
                for (int j = 1; j < n - 1; j++)
                    b[i * n + j] = 0.2f * (a[i * n + j] + a[i * n + j - 1] + a[i * n + j + 1] + a[(i - 1) * n + j] +
                                           a[(i + 1) * n + j]);

#pragma omp target teams distribute parallel for collapse(2) num_teams(teams) thread_limit(threads)
            for (int i = 1; i < n - 1; i++)
                for (int j = 1; j < n - 1; j++)
                    a[i * n + j] = 0.2f * (b[i * n + j] + b[i * n + j - 1] + b[i * n + j + 1] + b[(i - 1) * n + j] +
                                           b[(i + 1) * n + j]);
        }
    }
}
