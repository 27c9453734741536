#include "fdtd2d.h"
#include "program.h"

// A launch for each loop of each step; `collapse(2)` makes all accesses coalesced.
void fdtd2d(int n, int steps, const float *source, float *ex, float *ey, float *hz)
{
    int threads = tunable("threads", 256);
    int row_teams = (n - 1) / threads + 1;
    int teams = (n * n - 1) / threads + 1;
#pragma omp target data map(to: source[0:steps]) map(tofrom: ex[0:n * n], ey[0:n * n], hz[0:n * n])
    {
        for (int t = 0; t < steps; t++) {
#pragma omp target teams distribute parallel for num_teams(row_teams) thread_limit(threads)
            for (int j = 0; j < n; j++)
                ey[j] = source[t];

#pragma omp target teams distribute parallel for collapse(2) num_teams(teams) thread_limit(threads)
            for (int i = 1; i < n; i++)
                for (int j = 0; j < n; j++)
                    ey[i * n + j] -= 0.5f * (hz[i * n + j] - hz[(i - 1) * n + j]);

#pragma omp target teams distribute parallel for collapse(2) num_teams(teams) thread_limit(threads)
            for (int i = 0; i < n; i++)
                for (int j = 1; j < n; j++)
                    ex[i * n + j] -= 0.5f * (hz[i * n + j] - hz[i * n + j - 1]);

#pragma omp target teams distribute parallel for collapse(2) num_teams(teams) thread_limit(threads)
            for (int i = 0; i < n - 1; i++)
                for (int j = 0; j < n - 1; j++)
                    hz[i * n + j] -=
                        0.7f * (ex[i * n + j + 1] - ex[i * n + j] + ey[(i + 1) * n + j] - ey[i * n + j]);
        }
    }
}
