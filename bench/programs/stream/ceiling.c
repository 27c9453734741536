#include "program.h"
#include "stream.h"

static float computed(int operations, float value)
{
    for (int step = 0; step < operations; step++)
        value = 0.5f - 0.999f * value;
    return value;
}

// Tiles: while one is computed, the next comes in and the one before goes out. That needs page-locked arrays; with
// pageable ones a copy keeps the host busy, and a single tile without tasks is best. The first element of a tile stands
// for all of it in `depend`.
void stream(int n, int operations, const float *in, float *out)
{
    int threads = tunable("threads", 128);
    int tiles = tunable("tiles", tunable("pinned", 0) ? 8 : 1);
    if (tiles > n)
        tiles = n;
    if (tiles <= 1) {
        int teams = (n - 1) / threads + 1;
#pragma omp target teams distribute parallel for num_teams(teams) thread_limit(threads) \
    map(to: in[0:n]) map(from: out[0:n])
        for (int i = 0; i < n; i++)
            out[i] = computed(operations, in[i]);
        return;
    }
#pragma omp target data map(alloc: in[0:n], out[0:n])
    {
        for (int tile = 0; tile < tiles; tile++) {
            int first = (int)((long)n * tile / tiles);
            int length = (int)((long)n * (tile + 1) / tiles) - first;
            int teams = (length + threads - 1) / threads;
#pragma omp target update to(in[first:length]) depend(out: in[first]) nowait

#pragma omp target teams distribute parallel for num_teams(teams) thread_limit(threads) \
    depend(in: in[first]) depend(out: out[first]) nowait
            for (int i = first; i < first + length; i++)
                out[i] = computed(operations, in[i]);

#pragma omp target update from(out[first:length]) depend(in: out[first]) nowait
        }
#pragma omp taskwait
    }
}
