#include "settle.h"

// The rod stays on the device; of each step only the heated cell goes there, and the one in the middle comes back.
int settle(int cells, int most, float goal, float *rod, float *next)
{
    int t = 0, is_warm = 0;
#pragma omp target data map(tofrom: rod[0:cells]) map(tofrom: next[0:cells])
    while (t < most && !is_warm) {
        rod[0] = t;
#pragma omp target update to(rod[0:1])
#pragma omp target teams distribute parallel for
        for (int i = 1; i < cells - 1; i++)
            next[i] = 0.25f * rod[i - 1] + 0.5f * rod[i] + 0.25f * rod[i + 1];
#pragma omp target teams distribute parallel for
        for (int i = 1; i < cells - 1; i++)
            rod[i] = next[i];
#pragma omp target update from(rod[cells / 2:1])
        is_warm = rod[cells / 2] > goal;
        t++;
    }
    return t;
}
