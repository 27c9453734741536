#include "heat_until.h"

#include <math.h>
#include <stdlib.h>

// Both grids stay on the device; of each step only the change comes back.
int heat_until(int n, int most, float tolerance, float *restrict heat)
{
    float *next = malloc((size_t)n * n * sizeof *next);
    float change = 2 * tolerance;
    int steps = 0;
#pragma omp target data map(tofrom: heat[0:n * n]) map(alloc: next[0:n * n])
    while (change > tolerance && steps < most) {
        change = 0;
#pragma omp target teams distribute parallel for collapse(2)
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++)
                next[i * n + j] = 0.25f * (heat[(i - 1) * n + j] + heat[(i + 1) * n + j] + heat[i * n + j - 1] +
                                           heat[i * n + j + 1]);
#pragma omp target teams distribute parallel for collapse(2) map(tofrom: change) reduction(max: change)
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++) {
                change = fmaxf(change, fabsf(next[i * n + j] - heat[i * n + j]));
                heat[i * n + j] = next[i * n + j];
            }
        steps++;
    }
    free(next);
    return steps;
}
