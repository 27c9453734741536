#include "floyd_warshall.h"
#include "program.h"

// A launch for each step; `collapse(2)` makes all accesses coalesced. Row k and column k do not change in step k: the
// way from k to k is 0, so that nothing gets shorter there.
void floyd_warshall(int n, int *distance)
{
    int threads = tunable("threads", 256);
    int teams = (n * n - 1) / threads + 1;
#pragma omp target data map(tofrom: distance[0:n * n])
    for (int k = 0; k < n; k++) {
#pragma omp target teams distribute parallel for collapse(2) num_teams(teams) thread_limit(threads)
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) {
                int through = distance[i * n + k] + distance[k * n + j];
                if (through < distance[i * n + j])
                    distance[i * n + j] = through;
            }
    }
}
