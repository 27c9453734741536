#include "dwt_haar.h"

void dwt_haar(int n, const float *signal, float *out, float *work)
{
#pragma omp target map(to: signal[0:n]) map(from: out[0:n]) map(alloc: work[0:n])
    {
#pragma omp parallel for
        for (int i = 0; i < n; i++)
            work[i] = signal[i];

        for (int half = n / 2; half > 0; half /= 2) {
#pragma omp parallel for
            for (int i = 0; i < half; i++) {
                out[i] = (work[2 * i] + work[2 * i + 1]) * HALF_ROOT;
                out[half + i] = (work[2 * i] - work[2 * i + 1]) * HALF_ROOT;
            }

#pragma omp parallel for
            for (int i = 0; i < half; i++)
                work[i] = out[i];
        }
    }
}
