#include "program.h"
#include "stencil3d.h"

// The two grids take turns, so that no step copies back; each sweep takes the faces along, and an odd number of steps
// ends with one copy. Neighbouring threads take neighbouring cells of a row; each walks through a few planes and keeps
// its column's three values in registers.
static void sweep(int n, const float *from, float *to)
{
    int threads = tunable("threads", 64);
    int planes = tunable("planes", 8);
    int groups = (n + planes - 1) / planes;
    int teams = (groups * n * n + threads - 1) / threads;
#pragma omp target teams distribute parallel for collapse(3) num_teams(teams) thread_limit(threads)
    for (int group = 0; group < groups; group++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < n; k++) {
                int first = group * planes;
                int end = n - first < planes ? n : first + planes;
                int inside = j > 0 && j < n - 1 && k > 0 && k < n - 1;
                float here = from[(first * n + j) * n + k];
                float above = first > 0 ? from[((first - 1) * n + j) * n + k] : 0;
                for (int i = first; i < end; i++) {
                    int cell = (i * n + j) * n + k;
                    float below = i < n - 1 ? from[cell + n * n] : 0;
                    float value = here;
                    if (inside && i > 0 && i < n - 1)
                        value = 0.4f * here + 0.1f * (from[cell - 1] + from[cell + 1] + from[cell - n] +
                                                      from[cell + n] + above + below);
                    to[cell] = value;
                    above = here;
                    here = below;
                }
            }
}

static void copy(int n, const float *from, float *to)
{
    int threads = tunable("copy_threads", 256);
    int teams = (n * n * n + threads - 1) / threads;
#pragma omp target teams distribute parallel for num_teams(teams) thread_limit(threads)
    for (int i = 0; i < n * n * n; i++)
        to[i] = from[i];
}

void stencil3d(int n, int steps, float *grid, float *next)
{
#pragma omp target data map(tofrom: grid[0:n * n * n]) map(alloc: next[0:n * n * n])
    {
        for (int t = 0; t < steps; t++) {
            if (t % 2 == 0)
                sweep(n, grid, next);
            else
                sweep(n, next, grid);
        }
        if (steps % 2 == 1)
            copy(n, next, grid);
    }
}
