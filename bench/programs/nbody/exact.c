#include "nbody.h"
#include "program.h"

#include <math.h>

// A launch for each loop. A thread serves a body, in the order of `naive`: as many warps as the device has schedulers for, so that it
// is the delay of the roots and quotients that takes the time; with the others unrolled, more of them are under way.
enum { THREADS = 32 };

void nbody(int n, float dt, const float *mass, float *x, float *y, float *z, float *vx, float *vy, float *vz, float *ax,
           float *ay, float *az)
{
    int teams = (n + THREADS - 1) / THREADS;
#pragma omp target data map(to: mass[0:n]) map(tofrom: x[0:n], y[0:n], z[0:n], vx[0:n], vy[0:n], vz[0:n]) \
    map(from: ax[0:n], ay[0:n], az[0:n])
    {
#pragma omp target teams distribute parallel for num_teams(teams) thread_limit(THREADS)
        for (int i = 0; i < n; i++) {
            float sum_x = 0, sum_y = 0, sum_z = 0;
            float xi = x[i], yi = y[i], zi = z[i];
#pragma omp unroll partial(8)
            for (int j = 0; j < n; j++) {
                float dx = x[j] - xi;
                float dy = y[j] - yi;
                float dz = z[j] - zi;
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

#pragma omp target teams distribute parallel for num_teams(teams) thread_limit(THREADS)
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
