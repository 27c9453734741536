#include "fdtd2d.h"
#include "program.h"

#include <stdlib.h>

// One launch a step: each thread computes the ex and ey that its hz needs, its neighbours' too, from the old fields and
// writes the new ones elsewhere, so that all loops of a step are one. Neighbouring threads take neighbouring columns,
// each walks down a few rows. The second fields exist on the device only; their host memory is never touched.
static void step(int n, float value, const float *ex, const float *ey, const float *hz, float *new_ex, float *new_ey,
                 float *new_hz)
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
            float hz_here = hz[first * n + j];
            float ey_here =
                first == 0 ? value : ey[first * n + j] - 0.5f * (hz_here - hz[(first - 1) * n + j]);
            for (int i = first; i < end; i++) {
                int cell = i * n + j;
                float ex_here = ex[cell];
                float hz_below = 0, ey_below = 0;
                if (j > 0)
                    ex_here -= 0.5f * (hz_here - hz[cell - 1]);
                if (i < n - 1) {
                    hz_below = hz[cell + n];
                    ey_below = ey[cell + n] - 0.5f * (hz_below - hz_here);
                }
                float hz_next = hz_here;
                if (i < n - 1 && j < n - 1) {
                    float ex_right = ex[cell + 1] - 0.5f * (hz[cell + 1] - hz_here);
                    hz_next -= 0.7f * (ex_right - ex_here + ey_below - ey_here);
                }
                new_ex[cell] = ex_here;
                new_ey[cell] = ey_here;
                new_hz[cell] = hz_next;
                hz_here = hz_below;
                ey_here = ey_below;
            }
        }
}

static void copy(int n, const float *ex, const float *ey, const float *hz, float *new_ex, float *new_ey, float *new_hz)
{
    int threads = tunable("copy_threads", 256);
    int teams = (n * n + threads - 1) / threads;
#pragma omp target teams distribute parallel for num_teams(teams) thread_limit(threads)
    for (int i = 0; i < n * n; i++) {
        new_ex[i] = ex[i];
        new_ey[i] = ey[i];
        new_hz[i] = hz[i];
    }
}

void fdtd2d(int n, int steps, const float *source, float *ex, float *ey, float *hz)
{
    float *ex2 = malloc((size_t)n * n * sizeof *ex2);
    float *ey2 = malloc((size_t)n * n * sizeof *ey2);
    float *hz2 = malloc((size_t)n * n * sizeof *hz2);
#pragma omp target data map(tofrom: ex[0:n * n], ey[0:n * n], hz[0:n * n]) \
    map(alloc: ex2[0:n * n], ey2[0:n * n], hz2[0:n * n])
    {
        for (int t = 0; t < steps; t++) {
            if (t % 2 == 0)
                step(n, source[t], ex, ey, hz, ex2, ey2, hz2);
            else
                step(n, source[t], ex2, ey2, hz2, ex, ey, hz);
        }
        if (steps % 2 == 1)
            copy(n, ex2, ey2, hz2, ex, ey, hz);
    }
    free(ex2);
    free(ey2);
    free(hz2);
}
