#include "program.h"
#include "stencil3d.h"

// A launch for each loop of each step; `collapse(3)` makes all accesses coalesced and fills the device.
void stencil3d(int n, int steps, float *grid, float *next)
{
    int threads = tunable("threads", 256);
    int teams = (n * n * n - 1) / threads + 1;
#pragma omp target data map(tofrom: grid[0:n * n * n]) map(alloc: next[0:n * n * n])
    {
        for (int t = 0; t < steps; t++) {
#pragma omp target teams distribute parallel for collapse(3) num_teams(teams) thread_limit(threads)
            for (int i = 1; i < n - 1; i++)
                for (int j = 1; j < n - 1; j++)
                    for (int k = 1; k < n - 1; k++) {
                        int cell = (i * n + j) * n + k;
                        next[cell] = 0.4f * grid[cell] +
                                     0.1f * (grid[cell - 1] + grid[cell + 1] + grid[cell - n] + grid[cell + n] +
                                             grid[cell - n * n] + grid[cell + n * n]);
                    }

#pragma omp target teams distribute parallel for collapse(3) num_teams(teams) thread_limit(threads)
            for (int i = 1; i < n - 1; i++)
                for (int j = 1; j < n - 1; j++)
                    for (int k = 1; k < n - 1; k++)
                        grid[(i * n + j) * n + k] = next[(i * n + j) * n + k];
        }
    }
}
