// The papers' shape. The two loops share only inputs, so that no barrier between the teams is missed.
#include "mvt.h"

void mvt(int n, const float *a, const float *y1, const float *y2, float *x1, float *x2)
{
#pragma omp target teams map(to: a[0:n * n], y1[0:n], y2[0:n]) map(tofrom: x1[0:n], x2[0:n])
    {
#pragma omp distribute parallel for
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                x1[i] += a[i * n + j] * y1[j];

#pragma omp distribute parallel for
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                x2[i] += a[j * n + i] * y2[j];
    }
}
