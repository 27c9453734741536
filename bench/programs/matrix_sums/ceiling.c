#include "matrix_sums.h"
#include "program.h"

// With i as the inner loop neighbouring threads share a row: one read serves a whole warp, and the cache has room.
// Only the one update of out at the end of each thread is uncoalesced.
void matrix_sums(int n, int k, const float *m, float *out)
{
    int threads = tunable("threads", 64);
    int teams = (n * n + threads - 1) / threads;
#pragma omp target teams distribute parallel for collapse(2) num_teams(teams) thread_limit(threads) \
    map(to: m[0:k * n * n]) map(tofrom: out[0:n * n])
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++) {
            float sum = 0;
            for (int matrix = 0; matrix < k; matrix++)
                for (int q = 0; q < n; q++)
                    sum += m[(matrix * n + j) * n + q];
            out[i * n + j] += sum;
        }
}
