#include "fdtd2d.h"

void fdtd2d(int n, int steps, const float *source, float *ex, float *ey, float *hz)
{
#pragma omp target map(to: source[0:steps]) map(tofrom: ex[0:n * n], ey[0:n * n], hz[0:n * n])
    {
        for (int t = 0; t < steps; t++) {
#pragma omp parallel for
            for (int j = 0; j < n; j++)
                ey[j] = source[t];

#pragma omp parallel for
            for (int i = 1; i < n; i++)
                for (int j = 0; j < n; j++)
                    ey[i * n + j] -= 0.5f * (hz[i * n + j] - hz[(i - 1) * n + j]);

#pragma omp parallel for
            for (int i = 0; i < n; i++)
                for (int j = 1; j < n; j++)
                    ex[i * n + j] -= 0.5f * (hz[i * n + j] - hz[i * n + j - 1]);

#pragma omp parallel for
            for (int i = 0; i < n - 1; i++)
                for (int j = 0; j < n - 1; j++)
                    hz[i * n + j] -=
                        0.7f * (ex[i * n + j + 1] - ex[i * n + j] + ey[(i + 1) * n + j] - ey[i * n + j]);
        }
    }
}
