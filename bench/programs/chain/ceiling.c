#include "chain.h"
#include "program.h"

#include <math.h>

// One data environment for the whole chain: the signal goes in once, the result comes out once, and between the loops
// only the few elements move that the host reads. The loops see to the ends themselves. The middle loops are one, which
// computes the neighbours' details again instead of waiting for them.
void chain(int n, const float *signal, float *smooth, float *detail, float *slope, float *result)
{
    int threads = tunable("threads", 128);
    int most_teams = tunable("teams", 4224);
    int teams = (n + threads - 1) / threads;
    teams = teams < most_teams ? teams : most_teams;
#pragma omp target data map(to: signal[0:n]) map(alloc: smooth[0:n], detail[0:n], slope[0:n]) map(from: result[0:n])
    {
#pragma omp target teams distribute parallel for num_teams(teams) thread_limit(threads)
        for (int i = 0; i < n; i++) {
            if (i == 0)
                smooth[i] = 0.5f * (signal[i] + signal[i + 1]);
            else if (i == n - 1)
                smooth[i] = 0.5f * (signal[i - 1] + signal[i]);
            else
                smooth[i] = 0.25f * signal[i - 1] + 0.5f * signal[i] + 0.25f * signal[i + 1];
        }

        float roughness = 0;
        for (int p = 0; p < PROBES; p++) {
            int i = probe(p, n);
#pragma omp target update from(smooth[i:1])
            roughness += fabsf(signal[i] - smooth[i]);
        }
        float gain = 1.0f / (1.0f + roughness);

#pragma omp target teams distribute parallel for num_teams(teams) thread_limit(threads)
        for (int i = 0; i < n; i++) {
            int left = i > 0 ? i - 1 : i, right = i < n - 1 ? i + 1 : i;
            float after = gain * (signal[right] - smooth[right]);
            float before = gain * (signal[left] - smooth[left]);
            detail[i] = gain * (signal[i] - smooth[i]);
            slope[i] = after - before; // two roundings, as of the details in `naive`
        }

        float limit = 0.1f;
        for (int p = 0; p < PROBES; p++) {
            int i = probe(p, n);
#pragma omp target update from(slope[i:1])
            limit = fmaxf(limit, fabsf(slope[i]));
        }

#pragma omp target teams distribute parallel for num_teams(teams) thread_limit(threads)
        for (int i = 0; i < n; i++) {
            float steepness = slope[i] / limit;
            result[i] = smooth[i] + detail[i] / (1.0f + steepness * steepness);
        }
    }
}
