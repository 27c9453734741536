#include "particles.h"

// One data environment around all steps.
void particles(struct particles *all, int steps, float dt)
{
    int n = all->count;
    float *x = all->x, *y = all->y, *z = all->z;
    float *vx = all->vx, *vy = all->vy, *vz = all->vz;
    float *heat = all->heat;
#pragma omp target data map(tofrom: x[0:n], y[0:n], z[0:n], vx[0:n], vy[0:n], vz[0:n], heat[0:n])
    for (int t = 0; t < steps; t++) {
#pragma omp target teams distribute parallel for
        for (int i = 0; i < n; i++)
            vz[i] -= 9.81f * dt;
#pragma omp target teams distribute parallel for
        for (int i = 0; i < n; i++)
            heat[i] += 0.5f * dt * (vx[i] * vx[i] + vy[i] * vy[i] + vz[i] * vz[i]);
#pragma omp target teams distribute parallel for
        for (int i = 0; i < n; i++)
            vx[i] *= 1 - 0.1f * dt;
#pragma omp target teams distribute parallel for
        for (int i = 0; i < n; i++)
            vy[i] *= 1 - 0.1f * dt;
#pragma omp target teams distribute parallel for
        for (int i = 0; i < n; i++)
            vz[i] *= 1 - 0.1f * dt;
#pragma omp target teams distribute parallel for
        for (int i = 0; i < n; i++)
            x[i] += dt * vx[i];
#pragma omp target teams distribute parallel for
        for (int i = 0; i < n; i++)
            y[i] += dt * vy[i];
#pragma omp target teams distribute parallel for
        for (int i = 0; i < n; i++)
            z[i] += dt * vz[i];
#pragma omp target teams distribute parallel for
        for (int i = 0; i < n; i++)
            if (x[i] < 0 || x[i] > 1)
                vx[i] = x[i] < 0 ? 0.5f : -0.5f;
#pragma omp target teams distribute parallel for
        for (int i = 0; i < n; i++)
            if (y[i] < 0 || y[i] > 1)
                vy[i] = y[i] < 0 ? 0.5f : -0.5f;
#pragma omp target teams distribute parallel for
        for (int i = 0; i < n; i++)
            if (z[i] < 0 || z[i] > 1)
                vz[i] = z[i] < 0 ? 0.5f : -0.5f;
#pragma omp target teams distribute parallel for
        for (int i = 0; i < n; i++)
            heat[i] *= 0.999f;
    }
}
