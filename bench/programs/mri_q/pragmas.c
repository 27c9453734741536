#include "mri_q.h"
#include "program.h"

#include <math.h>

// A launch for each loop, in one data environment: one voxel a thread.
void mri_q(int n, const struct samples *samples, const float *x, const float *y, const float *z, float *strength, float *qr,
           float *qi)
{
    int threads = tunable("threads", 128);
    int count = samples->count;
    const float *kx = samples->kx, *ky = samples->ky, *kz = samples->kz;
    const float *real = samples->real, *imaginary = samples->imaginary;
    int sample_teams = (count + threads - 1) / threads;
    int teams = (n + threads - 1) / threads;
#pragma omp target data map(to: kx[0:count], ky[0:count], kz[0:count], real[0:count], imaginary[0:count]) \
    map(to: x[0:n], y[0:n], z[0:n]) map(alloc: strength[0:count]) map(from: qr[0:n], qi[0:n])
    {
#pragma omp target teams distribute parallel for num_teams(sample_teams) thread_limit(threads)
        for (int k = 0; k < count; k++)
            strength[k] = real[k] * real[k] + imaginary[k] * imaginary[k];

#pragma omp target teams distribute parallel for num_teams(teams) thread_limit(threads)
        for (int i = 0; i < n; i++) {
            float sum_r = 0, sum_i = 0;
            for (int k = 0; k < count; k++) {
                float angle = TWO_PI * (kx[k] * x[i] + ky[k] * y[i] + kz[k] * z[i]);
                sum_r += strength[k] * cosf(angle);
                sum_i += strength[k] * sinf(angle);
            }
            qr[i] = sum_r;
            qi[i] = sum_i;
        }
    }
}
