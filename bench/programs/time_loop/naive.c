#include "time_loop.h"

void time_loop(int n, int steps, float damping, const float *wall, float *height, float *velocity)
{
    for (int t = 0; t < steps; t++) {
        float level = wall[t];

#pragma omp target map(to: height[0:n * n]) map(tofrom: velocity[0:n * n])
#pragma omp parallel for
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++) {
                float slope = height[i * n + j - 1] + height[i * n + j + 1] + height[(i - 1) * n + j] +
                              height[(i + 1) * n + j] - 4 * height[i * n + j];
                velocity[i * n + j] = damping * velocity[i * n + j] + 0.2f * slope;
            }

#pragma omp target map(to: velocity[0:n * n]) map(tofrom: height[0:n * n])
#pragma omp parallel for
        for (int i = 0; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++) {
                if (i == 0)
                    height[j] = level;
                else
                    height[i * n + j] += velocity[i * n + j];
            }
    }
}
