#include "dwt_haar.h"
#include "program.h"

// A launch for each loop of each level, in one data environment, with as many teams as the level has work for.
void dwt_haar(int n, const float *signal, float *out, float *work)
{
    int threads = tunable("threads", 128);
    int all = (n + threads - 1) / threads;
#pragma omp target data map(to: signal[0:n]) map(from: out[0:n]) map(alloc: work[0:n])
    {
#pragma omp target teams distribute parallel for num_teams(all) thread_limit(threads)
        for (int i = 0; i < n; i++)
            work[i] = signal[i];

        for (int half = n / 2; half > 0; half /= 2) {
            int teams = (half + threads - 1) / threads;
#pragma omp target teams distribute parallel for num_teams(teams) thread_limit(threads)
            for (int i = 0; i < half; i++) {
                out[i] = (work[2 * i] + work[2 * i + 1]) * HALF_ROOT;
                out[half + i] = (work[2 * i] - work[2 * i + 1]) * HALF_ROOT;
            }

#pragma omp target teams distribute parallel for num_teams(teams) thread_limit(threads)
            for (int i = 0; i < half; i++)
                work[i] = out[i];
        }
    }
}
