#include "particles.h"
#include "program.h"

// No particle touches another: one launch for all steps, through which a thread takes a particle in registers.
void particles(struct particles *all, int steps, float dt)
{
    int n = all->count;
    float *x = all->x, *y = all->y, *z = all->z;
    float *vx = all->vx, *vy = all->vy, *vz = all->vz;
    float *heat = all->heat;
    int threads = tunable("threads", 128);
    int teams = (n + threads - 1) / threads;
#pragma omp target teams distribute parallel for num_teams(teams) thread_limit(threads) \
    map(tofrom: x[0:n], y[0:n], z[0:n], vx[0:n], vy[0:n], vz[0:n], heat[0:n])
    for (int i = 0; i < n; i++) {
        float place[3] = {x[i], y[i], z[i]}, speed[3] = {vx[i], vy[i], vz[i]}, warm = heat[i];
        for (int t = 0; t < steps; t++) {
            speed[2] -= 9.81f * dt;
            warm += 0.5f * dt * (speed[0] * speed[0] + speed[1] * speed[1] + speed[2] * speed[2]);
            for (int d = 0; d < 3; d++) {
                speed[d] *= 1 - 0.1f * dt;
                place[d] += dt * speed[d];
                if (place[d] < 0 || place[d] > 1)
                    speed[d] = place[d] < 0 ? 0.5f : -0.5f;
            }
            warm *= 0.999f;
        }
        x[i] = place[0];
        y[i] = place[1];
        z[i] = place[2];
        vx[i] = speed[0];
        vy[i] = speed[1];
        vz[i] = speed[2];
        heat[i] = warm;
    }
}
