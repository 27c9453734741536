#include "chain.h"
#include "program.h"

#include <math.h>

// One data environment for the whole chain, a launch for each loop. The host sees to the ends and the samples, for
// which only the few elements move that it reads and writes.
void chain(int n, const float *signal, float *smooth, float *detail, float *slope, float *result)
{
    int threads = tunable("threads", 128);
    int most_teams = tunable("teams", 4224);
    int teams = (n - 1) / threads + 1;
    teams = teams < most_teams ? teams : most_teams;
#pragma omp target data map(to: signal[0:n]) map(alloc: smooth[0:n], detail[0:n], slope[0:n]) map(from: result[0:n])
    {
#pragma omp target teams distribute parallel for num_teams(teams) thread_limit(threads)
        for (int i = 1; i < n - 1; i++)
            smooth[i] = 0.25f * signal[i - 1] + 0.5f * signal[i] + 0.25f * signal[i + 1];

        smooth[0] = 0.5f * (signal[0] + signal[1]);
        smooth[n - 1] = 0.5f * (signal[n - 2] + signal[n - 1]);
#pragma omp target update to(smooth[0:1])
#pragma omp target update to(smooth[n - 1:1])
        float roughness = 0;
        for (int p = 0; p < PROBES; p++) {
#pragma omp target update from(smooth[probe(p, n):1])
            roughness += fabsf(signal[probe(p, n)] - smooth[probe(p, n)]);
        }
        float gain = 1.0f / (1.0f + roughness);

#pragma omp target teams distribute parallel for num_teams(teams) thread_limit(threads)
        for (int i = 0; i < n; i++)
            detail[i] = gain * (signal[i] - smooth[i]);

#pragma omp target teams distribute parallel for num_teams(teams) thread_limit(threads)
        for (int i = 1; i < n - 1; i++)
            slope[i] = detail[i + 1] - detail[i - 1];

#pragma omp target update from(detail[0:2])
#pragma omp target update from(detail[n - 2:2])
        slope[0] = detail[1] - detail[0];
        slope[n - 1] = detail[n - 1] - detail[n - 2];
#pragma omp target update to(slope[0:1])
#pragma omp target update to(slope[n - 1:1])
        float limit = 0.1f;
        for (int p = 0; p < PROBES; p++) {
#pragma omp target update from(slope[probe(p, n):1])
            limit = fmaxf(limit, fabsf(slope[probe(p, n)]));
        }

#pragma omp target teams distribute parallel for num_teams(teams) thread_limit(threads)
        for (int i = 0; i < n; i++) {
            float steepness = slope[i] / limit;
            result[i] = smooth[i] + detail[i] / (1.0f + steepness * steepness);
        }
    }
}
