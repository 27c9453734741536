#include "settle.h"

int settle(int cells, int most, float goal, float *rod, float *next)
{
    for (int t = 0; t < most; t++) {
        rod[0] = t;
#pragma omp target teams distribute parallel for map(tofrom: rod[0:cells], next[0:cells])
        for (int i = 1; i < cells - 1; i++)
            next[i] = 0.25f * rod[i - 1] + 0.5f * rod[i] + 0.25f * rod[i + 1];
#pragma omp target teams distribute parallel for map(tofrom: rod[0:cells], next[0:cells])
        for (int i = 1; i < cells - 1; i++)
            rod[i] = next[i];
        if (rod[cells / 2] > goal)
            return t + 1;
    }
    return most;
}
