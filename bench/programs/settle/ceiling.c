#include "program.h"
#include "settle.h"

// Both rods stay on the device and take turns, so that a step is one launch; the heat of the first cell goes there as an argument, and of
// each step only the cell in the middle comes back.
static void step(int cells, float heat, const float *from, float *to)
{
    int threads = tunable("threads", 128);
    int teams = (cells + threads - 1) / threads;
#pragma omp target teams distribute parallel for num_teams(teams) thread_limit(threads)
    for (int i = 0; i < cells; i++) {
        float value = i == 0 ? heat : from[i];
        if (i > 0 && i < cells - 1) {
            float left = i == 1 ? heat : from[i - 1];
            value = 0.25f * left + 0.5f * from[i] + 0.25f * from[i + 1];
        }
        to[i] = value;
    }
}

int settle(int cells, int most, float goal, float *rod, float *next)
{
    int t = 0, is_warm = 0, middle = cells / 2;
#pragma omp target data map(tofrom: rod[0:cells]) map(alloc: next[0:cells])
    {
        while (t < most && !is_warm) {
            float *to = t % 2 == 0 ? next : rod;
            step(cells, t, t % 2 == 0 ? rod : next, to);
#pragma omp target update from(to[middle:1])
            is_warm = to[middle] > goal;
            t++;
        }
        if (t % 2 == 1) {
#pragma omp target teams distribute parallel for
            for (int i = 0; i < cells; i++)
                rod[i] = next[i];
        }
    }
    return t;
}
