#include "chain.h"

#include <math.h>

void chain(int n, const float *signal, float *smooth, float *detail, float *slope, float *result)
{
#pragma omp target map(to: signal[0:n]) map(from: smooth[0:n])
#pragma omp parallel for
    for (int i = 1; i < n - 1; i++)
        smooth[i] = 0.25f * signal[i - 1] + 0.5f * signal[i] + 0.25f * signal[i + 1];

    smooth[0] = 0.5f * (signal[0] + signal[1]);
    smooth[n - 1] = 0.5f * (signal[n - 2] + signal[n - 1]);
    float roughness = 0;
    for (int p = 0; p < PROBES; p++)
        roughness += fabsf(signal[probe(p, n)] - smooth[probe(p, n)]);
    float gain = 1.0f / (1.0f + roughness);

#pragma omp target map(to: signal[0:n], smooth[0:n]) map(from: detail[0:n], slope[0:n])
    {
#pragma omp parallel for
        for (int i = 0; i < n; i++)
            detail[i] = gain * (signal[i] - smooth[i]);

#pragma omp parallel for
        for (int i = 1; i < n - 1; i++)
            slope[i] = detail[i + 1] - detail[i - 1];
    }

    slope[0] = detail[1] - detail[0];
    slope[n - 1] = detail[n - 1] - detail[n - 2];
    float limit = 0.1f;
    for (int p = 0; p < PROBES; p++)
        limit = fmaxf(limit, fabsf(slope[probe(p, n)]));

#pragma omp target map(to: smooth[0:n], detail[0:n], slope[0:n]) map(from: result[0:n])
#pragma omp parallel for
    for (int i = 0; i < n; i++) {
        float steepness = slope[i] / limit;
        result[i] = smooth[i] + detail[i] / (1.0f + steepness * steepness);
    }
}
