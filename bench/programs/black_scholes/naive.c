#include "black_scholes.h"

#include <math.h>

#pragma omp declare target
// The integral of the normal distribution up to d.
static float normal(float d)
{
    float k = 1.0f / (1.0f + 0.2316419f * fabsf(d));
    float polynomial =
        k * (0.319381530f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f))));
    float tail = 0.39894228f * expf(-0.5f * d * d) * polynomial;
    return d > 0 ? 1.0f - tail : tail;
}
#pragma omp end declare target

void black_scholes(int n, float rate, float volatility, const float *spot, const float *strike, const float *years,
                   float *call, float *put)
{
#pragma omp target map(to: spot[0:n], strike[0:n], years[0:n]) map(from: call[0:n], put[0:n])
#pragma omp parallel for
    for (int i = 0; i < n; i++) {
        float deviation = volatility * sqrtf(years[i]);
        float d1 = (logf(spot[i] / strike[i]) + (rate + 0.5f * volatility * volatility) * years[i]) / deviation;
        float d2 = d1 - deviation;
        float discounted = strike[i] * expf(-rate * years[i]);
        float n1 = normal(d1);
        float n2 = normal(d2);
        call[i] = spot[i] * n1 - discounted * n2;
        put[i] = discounted * (1.0f - n2) - spot[i] * (1.0f - n1);
    }
}
