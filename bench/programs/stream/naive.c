#include "stream.h"

void stream(int n, int operations, const float *in, float *out)
{
#pragma omp target map(to: in[0:n]) map(from: out[0:n])
#pragma omp parallel for
    for (int i = 0; i < n; i++) {
        float value = in[i];
        for (int step = 0; step < operations; step++)
            value = 0.5f - 0.999f * value;
        out[i] = value;
    }
}
