#include "jacobi_swap.h"
#include "program.h"

#include <stdlib.h>
#include <string.h>

// All grids stay on the device; pointers change places there as on the host, since data are found by their address. Neighbouring threads
// take neighbouring columns; each walks down a few rows and keeps the column's three cells in registers.
static void step(int n, const float *right, const float *old, float *new)
{
    int threads = tunable("threads", 128);
    int rows = tunable("rows", 4);
    int groups = (n + rows - 1) / rows;
    int teams = (groups * n + threads - 1) / threads;
#pragma omp target teams distribute parallel for collapse(2) num_teams(teams) thread_limit(threads)
    for (int group = 0; group < groups; group++)
        for (int j = 1; j < n - 1; j++) {
            int first = group * rows > 1 ? group * rows : 1;
            int end = n - 1 - group * rows < rows ? n - 1 : group * rows + rows;
            float above = old[(first - 1) * n + j];
            float here = old[first * n + j];
            for (int i = first; i < end; i++) {
                float below = old[(i + 1) * n + j];
                new[i * n + j] = 0.25f * (right[i * n + j] + above + below + old[i * n + j - 1] + old[i * n + j + 1]);
                above = here;
                here = below;
            }
        }
}

void jacobi_swap(int n, int steps, const float *restrict right, float *restrict x)
{
    size_t bytes = (size_t)n * n * sizeof *x;
    float *old = malloc(bytes);
    float *new = malloc(bytes);
    memcpy(old, x, bytes);
    memcpy(new, x, bytes);
#pragma omp target data map(tofrom: old[0:n * n], new[0:n * n]) map(to: right[0:n * n])
    for (int t = 0; t < steps; t++) {
        step(n, right, old, new);
        float *other = old;
        old = new;
        new = other;
    }
    memcpy(x, old, bytes);
    free(old);
    free(new);
}
