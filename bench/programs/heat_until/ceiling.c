#include "heat_until.h"
#include "program.h"

#include <math.h>
#include <stdlib.h>

// Both grids stay on the device and take turns, so that a step is one launch and no copy; of each step only the change comes back.
// The edges of the second grid are those of the first.
int heat_until(int n, int most, float tolerance, float *restrict heat)
{
    int threads = tunable("threads", 512);
    int most_teams = tunable("teams", 264);
    int full = (n * n + threads - 1) / threads;
    int teams = full < most_teams ? full : most_teams;
    float *other = malloc((size_t)n * n * sizeof *other);
    float change = 2 * tolerance;
    int steps = 0;
#pragma omp target data map(tofrom: heat[0:n * n]) map(alloc: other[0:n * n])
    {
        while (change > tolerance && steps < most) {
            const float *from = steps % 2 == 0 ? heat : other;
            float *to = steps % 2 == 0 ? other : heat;
            change = 0;
#pragma omp target teams distribute parallel for collapse(2) num_teams(teams) thread_limit(threads) map(tofrom: change) \
    reduction(max: change)
            for (int i = 0; i < n; i++)
                for (int j = 0; j < n; j++) {
                    float value = from[i * n + j];
                    if (i > 0 && i < n - 1 && j > 0 && j < n - 1) {
                        value = 0.25f * (from[(i - 1) * n + j] + from[(i + 1) * n + j] + from[i * n + j - 1] +
                                         from[i * n + j + 1]);
                        change = fmaxf(change, fabsf(value - from[i * n + j]));
                    }
                    to[i * n + j] = value;
                }
            steps++;
        }
        if (steps % 2 == 1) {
#pragma omp target teams distribute parallel for num_teams(full) thread_limit(threads)
            for (int i = 0; i < n * n; i++)
                heat[i] = other[i];
        }
    }
    free(other);
    return steps;
}
