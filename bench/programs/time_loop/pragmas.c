#include "program.h"
#include "time_loop.h"

// One data environment around all steps, a launch for each loop; `collapse(2)` makes all accesses coalesced.
void time_loop(int n, int steps, float damping, const float *wall, float *height, float *velocity)
{
    int threads = tunable("threads", 256);
    int teams = (n * n - 1) / threads + 1;
#pragma omp target data map(tofrom: height[0:n * n], velocity[0:n * n])
    for (int t = 0; t < steps; t++) {
        float level = wall[t];

#pragma omp target teams distribute parallel for collapse(2) num_teams(teams) thread_limit(threads)
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++) {
                float slope = height[i * n + j - 1] + height[i * n + j + 1] + height[(i - 1) * n + j] +
                              height[(i + 1) * n + j] - 4 * height[i * n + j];
                velocity[i * n + j] = damping * velocity[i * n + j] + 0.2f * slope;
            }

#pragma omp target teams distribute parallel for collapse(2) num_teams(teams) thread_limit(threads)
        for (int i = 0; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++) {
                if (i == 0)
                    height[j] = level;
                else
                    height[i * n + j] += velocity[i * n + j];
            }
    }
}
