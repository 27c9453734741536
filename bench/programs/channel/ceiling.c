#include "channel.h"
#include "program.h"

#include <stdlib.h>
#include <string.h>

// The inflow goes to the device as a whole, and the two grids take turns, so that a step is one launch and no copy. Neighbouring threads
// take neighbouring columns; each walks down a few rows and keeps the column's three cells in registers.
static void step(int n, const float *row, const float *from, float *to)
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
            float above = first > 1 ? from[(first - 1) * n + j] : row[j];
            float here = first > 0 ? from[first * n + j] : row[j];
            for (int i = first; i < end; i++) {
                int cell = i * n + j;
                float below = i < n - 1 ? from[cell + n] : 0;
                float value = here;
                if (inside && i > 0 && i < n - 1)
                    value = 0.5f * above + 0.2f * here + 0.1f * below + 0.1f * (from[cell - 1] + from[cell + 1]);
                to[cell] = value;
                above = here;
                here = below;
            }
        }
}

void channel(int n, int steps, const float *restrict inflow, float *restrict cells)
{
    float *now = malloc((size_t)n * n * sizeof *now);
    float *next = malloc((size_t)n * n * sizeof *next);
    memcpy(now, cells, (size_t)n * n * sizeof *now);
    float *left = steps % 2 == 0 ? now : next;
#pragma omp target data map(to: inflow[0:steps * n], now[0:n * n]) map(alloc: next[0:n * n])
    {
        for (int t = 0; t < steps; t++)
            step(n, inflow + t * n, t % 2 == 0 ? now : next, t % 2 == 0 ? next : now);
#pragma omp target update from(left[0:n * n])
    }
    memcpy(cells, left, (size_t)n * n * sizeof *now);
    free(now);
    free(next);
}
