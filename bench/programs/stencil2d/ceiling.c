#include "program.h"
#include "stencil2d.h"

// Two sweeps a launch: a thread computes the averages around its cell itself, so that half the launches and half the
// memory traffic remain. Neighbouring threads take neighbouring columns; each walks down a few rows. The last step is
// two sweeps, which leave both results; an odd number of launches before it begins with two sweeps as well.
static void sweep(int n, const float *from, float *to)
{
    int threads = tunable("threads", 64);
    int rows = tunable("rows", 4);
    int groups = (n + rows - 1) / rows;
    int teams = (groups * n + threads - 1) / threads;
#pragma omp target teams distribute parallel for collapse(2) num_teams(teams) thread_limit(threads)
    for (int group = 0; group < groups; group++)
        for (int j = 1; j < n - 1; j++) {
            int first = group * rows > 1 ? group * rows : 1;
            int end = n - 1 - group * rows < rows ? n - 1 : group * rows + rows;
            float above = from[(first - 1) * n + j];
            float here = from[first * n + j];
            for (int i = first; i < end; i++) {
                float below = from[(i + 1) * n + j];
                to[i * n + j] = 0.2f * (here + from[i * n + j - 1] + from[i * n + j + 1] + above + below);
                above = here;
                here = below;
            }
        }
}

// A cell after one sweep.
static float averaged(int n, const float *from, int i, int j)
{
    int cell = i * n + j;
    if (i == 0 || j == 0 || i == n - 1 || j == n - 1)
        return from[cell];
    return 0.2f * (from[cell] + from[cell - 1] + from[cell + 1] + from[cell - n] + from[cell + n]);
}

static void two_sweeps(int n, const float *from, float *to)
{
    int threads = tunable("double_threads", 64);
    int rows = tunable("double_rows", 8);
    int groups = (n + rows - 1) / rows;
    int teams = (groups * n + threads - 1) / threads;
#pragma omp target teams distribute parallel for collapse(2) num_teams(teams) thread_limit(threads)
    for (int group = 0; group < groups; group++)
        for (int j = 1; j < n - 1; j++) {
            int first = group * rows > 1 ? group * rows : 1;
            int end = n - 1 - group * rows < rows ? n - 1 : group * rows + rows;
            float above = averaged(n, from, first - 1, j);
            float here = averaged(n, from, first, j);
            for (int i = first; i < end; i++) {
                float below = averaged(n, from, i + 1, j);
                float left = averaged(n, from, i, j - 1);
                float right = averaged(n, from, i, j + 1);
                to[i * n + j] = 0.2f * (here + left + right + above + below);
                above = here;
                here = below;
            }
        }
}

void stencil2d(int n, int steps, float *a, float *b)
{
#pragma omp target data map(tofrom: a[0:n * n], b[0:n * n])
    {
        int left = steps;
        if (left > 1 && left % 2 == 0) {
            sweep(n, a, b);
            sweep(n, b, a);
            left--;
        }
        for (; left > 1; left -= 2) {
            two_sweeps(n, a, b);
            two_sweeps(n, b, a);
        }
        if (left == 1) {
            sweep(n, a, b);
            sweep(n, b, a);
        }
    }
}
