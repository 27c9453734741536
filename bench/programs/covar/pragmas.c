#include "covar.h"
#include "program.h"

// The loops split, in one data environment. The means are coalesced but few: blocks of one warp reach more
// multiprocessors. The other nests are collapsed; clang goes through the triangle as a square and skips its lower half.
void covar(int points, int features, float *data, float *mean, float *covariance)
{
    int mean_threads = tunable("mean_threads", 8);
    int centre_threads = tunable("centre_threads", 128);
    int threads = tunable("threads", 128);
    int mean_teams = (features + mean_threads - 1) / mean_threads;
    int centre_teams = (points * features + centre_threads - 1) / centre_threads;
    int teams = (features * features + threads - 1) / threads;
#pragma omp target data map(tofrom: data[0:points * features]) \
    map(from: mean[0:features], covariance[0:features * features])
    {
#pragma omp target teams distribute parallel for num_teams(mean_teams) thread_limit(mean_threads)
        for (int j = 0; j < features; j++) {
            mean[j] = 0;
            for (int i = 0; i < points; i++)
                mean[j] += data[i * features + j];
            mean[j] /= points;
        }

#pragma omp target teams distribute parallel for collapse(2) num_teams(centre_teams) thread_limit(centre_threads)
        for (int i = 0; i < points; i++)
            for (int j = 0; j < features; j++)
                data[i * features + j] -= mean[j];

#pragma omp target teams distribute parallel for collapse(2) num_teams(teams) thread_limit(threads)
        for (int j1 = 0; j1 < features; j1++)
            for (int j2 = j1; j2 < features; j2++) {
                float sum = 0;
                for (int i = 0; i < points; i++)
                    sum += data[i * features + j1] * data[i * features + j2];
                covariance[j1 * features + j2] = sum / (points - 1);
                covariance[j2 * features + j1] = covariance[j1 * features + j2];
            }
    }
}
