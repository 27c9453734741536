#include "channel.h"

#include <stdlib.h>
#include <string.h>

// Only the row that the host writes travels in a step.
void channel(int n, int steps, const float *restrict inflow, float *restrict cells)
{
    float *now = malloc((size_t)n * n * sizeof *now);
    float *next = malloc((size_t)n * n * sizeof *next);
    memcpy(now, cells, (size_t)n * n * sizeof *now);
#pragma omp target data map(tofrom: now[0:n * n]) map(alloc: next[0:n * n])
    for (int t = 0; t < steps; t++) {
        for (int j = 0; j < n; j++)
            now[j] = inflow[t * n + j];
#pragma omp target update to(now[0:n])
#pragma omp target teams distribute parallel for collapse(2)
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++)
                next[i * n + j] = 0.5f * now[(i - 1) * n + j] + 0.2f * now[i * n + j] + 0.1f * now[(i + 1) * n + j] +
                                  0.1f * (now[i * n + j - 1] + now[i * n + j + 1]);
#pragma omp target teams distribute parallel for collapse(2)
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++)
                now[i * n + j] = next[i * n + j];
    }
    memcpy(cells, now, (size_t)n * n * sizeof *now);
    free(now);
    free(next);
}
