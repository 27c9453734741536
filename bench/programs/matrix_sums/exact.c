#include "matrix_sums.h"

// The loops exchanged as in pragmas.c, the sum unrolled, so that more loads are under way; its terms keep their order, unlike
// in ceiling.c.
void matrix_sums(int n, int k, const float *m, float *out)
{
    int teams = (n * n + 127) / 128;
#pragma omp target teams distribute parallel for collapse(2) num_teams(teams) thread_limit(128) \
    map(to: m[0:k * n * n]) map(tofrom: out[0:n * n])
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++) {
            float sum = 0;
#pragma omp unroll partial(8)
            for (int q = 0; q < n; q++)
                for (int matrix = 0; matrix < k; matrix++)
                    sum += m[(matrix * n + j) * n + q];
            out[i * n + j] += sum;
        }
}
