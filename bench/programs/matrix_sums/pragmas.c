#include "matrix_sums.h"
#include "program.h"

// Neighbouring threads read neighbouring rows, and each keeps a line of each of the k matrices in the first-level cache
// until it has used it up. So only as many threads are resident as fill half of that cache with their lines: 1024 / k
// on each multiprocessor.
enum { PROCESSORS = 132, CACHED_LINES = 1024 };

void matrix_sums(int n, int k, const float *m, float *out)
{
    int threads = tunable("threads", 32);
    int resident = tunable("resident", CACHED_LINES / k > 0 ? CACHED_LINES / k : 1); // threads on a multiprocessor
    int teams = PROCESSORS * ((resident + threads - 1) / threads);
#pragma omp target teams distribute parallel for collapse(2) num_teams(teams) thread_limit(threads) \
    map(to: m[0:k * n * n]) map(tofrom: out[0:n * n])
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            float sum = 0;
            for (int q = 0; q < n; q++)
                for (int matrix = 0; matrix < k; matrix++)
                    sum += m[(matrix * n + j) * n + q];
            out[i * n + j] += sum;
        }
}
