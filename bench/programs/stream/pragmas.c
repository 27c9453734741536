#include "program.h"
#include "stream.h"

// One launch, an element a thread.
void stream(int n, int operations, const float *in, float *out)
{
    int threads = tunable("threads", 128);
    int teams = (n - 1) / threads + 1;
#pragma omp target teams distribute parallel for num_teams(teams) thread_limit(threads) \
    map(to: in[0:n]) map(from: out[0:n])
    for (int i = 0; i < n; i++) {
        float value = in[i];
        for (int step = 0; step < operations; step++)
            value = 0.5f - 0.999f * value;
        out[i] = value;
    }
}
