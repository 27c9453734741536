#include "program.h"
#include "time_loop.h"

#include <stdlib.h>

// One data environment around all steps, and one launch a step: new heights go to a second grid, which exists on the
// device only (its host memory is never touched), so that both loops are one. Neighbouring threads take neighbouring
// columns, each walks down a few rows and keeps the column's three heights in registers.
static void step(int n, float damping, float level, const float *height, float *new_height, float *velocity)
{
    int threads = tunable("threads", 128);
    int rows = tunable("rows", 4);
    int groups = (n + rows - 1) / rows;
    int teams = (groups * n + threads - 1) / threads;
#pragma omp target teams distribute parallel for collapse(2) num_teams(teams) thread_limit(threads)
    for (int group = 0; group < groups; group++)
        for (int j = 0; j < n; j++) {
            int first = group * rows;
            int end = n - first < rows ? n : first + rows;
            int inside = j > 0 && j < n - 1;
            float above = first > 0 ? height[(first - 1) * n + j] : 0;
            float here = height[first * n + j];
            for (int i = first; i < end; i++) {
                int cell = i * n + j;
                float below = i < n - 1 ? height[cell + n] : 0;
                float next = here;
                if (inside && i == 0) {
                    next = level;
                } else if (inside && i < n - 1) {
                    float slope = height[cell - 1] + height[cell + 1] + above + below - 4 * here;
                    float speed = damping * velocity[cell] + 0.2f * slope;
                    velocity[cell] = speed;
                    next += speed;
                }
                new_height[cell] = next;
                above = here;
                here = below;
            }
        }
}

static void copy(int n, const float *from, float *to)
{
    int threads = tunable("copy_threads", 256);
    int teams = (n * n + threads - 1) / threads;
#pragma omp target teams distribute parallel for num_teams(teams) thread_limit(threads)
    for (int i = 0; i < n * n; i++)
        to[i] = from[i];
}

void time_loop(int n, int steps, float damping, const float *wall, float *height, float *velocity)
{
    float *other = malloc((size_t)n * n * sizeof *other);
#pragma omp target data map(tofrom: height[0:n * n], velocity[0:n * n]) map(alloc: other[0:n * n])
    {
        for (int t = 0; t < steps; t++) {
            if (t % 2 == 0)
                step(n, damping, wall[t], height, other, velocity);
            else
                step(n, damping, wall[t], other, height, velocity);
        }
        if (steps % 2 == 1)
            copy(n, other, height);
    }
    free(other);
}
