#include "nbody.h"

#include <math.h>

void nbody(int n, float dt, const float *mass, float *x, float *y, float *z, float *vx, float *vy, float *vz, float *ax,
           float *ay, float *az)
{
#pragma omp target map(to: mass[0:n]) map(tofrom: x[0:n], y[0:n], z[0:n], vx[0:n], vy[0:n], vz[0:n]) \
    map(from: ax[0:n], ay[0:n], az[0:n])
    {
#pragma omp parallel for
        for (int i = 0; i < n; i++) {
            float sum_x = 0, sum_y = 0, sum_z = 0;
            for (int j = 0; j < n; j++) {
                float dx = x[j] - x[i];
                float dy = y[j] - y[i];
                float dz = z[j] - z[i];
                float inverse = 1.0f / sqrtf(dx * dx + dy * dy + dz * dz + SOFTENING);
                float weight = mass[j] * inverse * inverse * inverse;
                sum_x += weight * dx;
                sum_y += weight * dy;
                sum_z += weight * dz;
            }
            ax[i] = sum_x;
            ay[i] = sum_y;
            az[i] = sum_z;
        }

#pragma omp parallel for
        for (int i = 0; i < n; i++) {
            vx[i] += dt * ax[i];
            vy[i] += dt * ay[i];
            vz[i] += dt * az[i];
            x[i] += dt * vx[i];
            y[i] += dt * vy[i];
            z[i] += dt * vz[i];
        }
    }
}
