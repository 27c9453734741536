#include "mri_q.h"
#include "program.h"

#include <math.h>

// A launch for each loop, in one data environment. A thread serves COARSE voxels, each in the order of `naive`, so that a sample that
// it has loaded serves COARSE times, and the waves of all are under way.
enum { COARSE = 2 };

void mri_q(int n, const struct samples *samples, const float *x, const float *y, const float *z, float *strength, float *qr,
           float *qi)
{
    int threads = tunable("threads", 128);
    int count = samples->count;
    const float *kx = samples->kx, *ky = samples->ky, *kz = samples->kz;
    const float *real = samples->real, *imaginary = samples->imaginary;
    int sample_teams = (count + threads - 1) / threads;
    int groups = (n + COARSE - 1) / COARSE;
    int teams = (groups + threads - 1) / threads;
#pragma omp target data map(to: kx[0:count], ky[0:count], kz[0:count], real[0:count], imaginary[0:count]) \
    map(to: x[0:n], y[0:n], z[0:n]) map(alloc: strength[0:count]) map(from: qr[0:n], qi[0:n])
    {
#pragma omp target teams distribute parallel for num_teams(sample_teams) thread_limit(threads)
        for (int k = 0; k < count; k++)
            strength[k] = real[k] * real[k] + imaginary[k] * imaginary[k];

#pragma omp target teams distribute parallel for num_teams(teams) thread_limit(threads)
        for (int first = 0; first < groups; first++) {
            float sum_r[COARSE], sum_i[COARSE], xi[COARSE], yi[COARSE], zi[COARSE];
#pragma omp unroll full
            for (int c = 0; c < COARSE; c++) {
                int i = first + c * groups < n ? first + c * groups : n - 1;
                xi[c] = x[i];
                yi[c] = y[i];
                zi[c] = z[i];
                sum_r[c] = sum_i[c] = 0;
            }
            for (int k = 0; k < count; k++)
#pragma omp unroll full
                for (int c = 0; c < COARSE; c++) {
                    float angle = TWO_PI * (kx[k] * xi[c] + ky[k] * yi[c] + kz[k] * zi[c]);
                    sum_r[c] += strength[k] * cosf(angle);
                    sum_i[c] += strength[k] * sinf(angle);
                }
#pragma omp unroll full
            for (int c = 0; c < COARSE; c++)
                if (first + c * groups < n) {
                    qr[first + c * groups] = sum_r[c];
                    qi[first + c * groups] = sum_i[c];
                }
        }
    }
}
