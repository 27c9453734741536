#include "nbody.h"
#include "program.h"

#include <math.h>
#include <stdlib.h>

// One thread a body is too few: the others are cut into `parts`, whose sums the second loop adds before it moves it.
// Each thread serves COARSE bodies, so that a body that it has loaded serves COARSE times.
enum { COARSE = 4 };

void nbody(int n, float dt, const float *mass, float *x, float *y, float *z, float *vx, float *vy, float *vz, float *ax,
           float *ay, float *az)
{
    int threads = tunable("threads", 128);
    int parts = tunable("parts", 32);
    int move_threads = tunable("move_threads", 64);
    int part = (n + parts - 1) / parts;
    int groups = (n + COARSE - 1) / COARSE;
    int teams = (parts * groups + threads - 1) / threads;
    int move_teams = (n + move_threads - 1) / move_threads;
    int sums = 3 * parts * n;
    float *sum = malloc(sums * sizeof *sum); // only its copy on the device is used
#pragma omp target data map(to: mass[0:n]) map(tofrom: x[0:n], y[0:n], z[0:n], vx[0:n], vy[0:n], vz[0:n]) \
    map(from: ax[0:n], ay[0:n], az[0:n]) map(alloc: sum[0:sums])
    {
#pragma omp target teams distribute parallel for collapse(2) num_teams(teams) thread_limit(threads)
        for (int p = 0; p < parts; p++)
            for (int g = 0; g < groups; g++) {
                int end = (p + 1) * part < n ? (p + 1) * part : n;
                float xi[COARSE], yi[COARSE], zi[COARSE], sum_x[COARSE], sum_y[COARSE], sum_z[COARSE];
                for (int c = 0; c < COARSE; c++) {
                    int i = g + c * groups < n ? g + c * groups : n - 1;
                    xi[c] = x[i];
                    yi[c] = y[i];
                    zi[c] = z[i];
                    sum_x[c] = sum_y[c] = sum_z[c] = 0;
                }
                for (int j = p * part; j < end; j++) {
                    float xj = x[j], yj = y[j], zj = z[j], mass_j = mass[j];
                    for (int c = 0; c < COARSE; c++) {
                        float dx = xj - xi[c];
                        float dy = yj - yi[c];
                        float dz = zj - zi[c];
                        float inverse = 1.0f / sqrtf(dx * dx + dy * dy + dz * dz + SOFTENING);
                        float weight = mass_j * inverse * inverse * inverse;
                        sum_x[c] += weight * dx;
                        sum_y[c] += weight * dy;
                        sum_z[c] += weight * dz;
                    }
                }
                for (int c = 0; c < COARSE; c++) {
                    int i = g + c * groups;
                    if (i < n) {
                        sum[(3 * p) * n + i] = sum_x[c];
                        sum[(3 * p + 1) * n + i] = sum_y[c];
                        sum[(3 * p + 2) * n + i] = sum_z[c];
                    }
                }
            }

#pragma omp target teams distribute parallel for num_teams(move_teams) thread_limit(move_threads)
        for (int i = 0; i < n; i++) {
            float sum_x = 0, sum_y = 0, sum_z = 0;
            for (int p = 0; p < parts; p++) {
                sum_x += sum[(3 * p) * n + i];
                sum_y += sum[(3 * p + 1) * n + i];
                sum_z += sum[(3 * p + 2) * n + i];
            }
            ax[i] = sum_x;
            ay[i] = sum_y;
            az[i] = sum_z;
            vx[i] += dt * sum_x;
            vy[i] += dt * sum_y;
            vz[i] += dt * sum_z;
            x[i] += dt * vx[i];
            y[i] += dt * vy[i];
            z[i] += dt * vz[i];
        }
    }
    free(sum);
}
