#include "matrix_sums.h"
#include "program.h"

#include <stdlib.h>

// All rows of out get the same sums: each is made once, and added to its column by a second kernel. Its terms keep their order, unlike
// in ceiling.c; the sum unrolled, so that more sectors of a row are under way, from small blocks, which reach all multiprocessors.
void matrix_sums(int n, int k, const float *m, float *out)
{
    int sum_threads = tunable("sum_threads", 4);
    int threads = tunable("threads", 256);
    int sum_teams = (n + sum_threads - 1) / sum_threads;
    int teams = (n * n + threads - 1) / threads;
    float *sums = malloc(n * sizeof *sums); // only its copy on the device is used
#pragma omp target data map(to: m[0:k * n * n]) map(tofrom: out[0:n * n]) map(alloc: sums[0:n])
    {
#pragma omp target teams distribute parallel for num_teams(sum_teams) thread_limit(sum_threads)
        for (int j = 0; j < n; j++) {
            float sum = 0;
            if (k == 1) {
#pragma omp unroll partial(64)
                for (int q = 0; q < n; q++)
                    sum += m[j * n + q];
            } else {
#pragma omp unroll partial(16)
                for (int q = 0; q < n; q++)
                    for (int matrix = 0; matrix < k; matrix++)
                        sum += m[(matrix * n + j) * n + q];
            }
            sums[j] = sum;
        }

#pragma omp target teams distribute parallel for collapse(2) num_teams(teams) thread_limit(threads)
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                out[i * n + j] += sums[j];
    }
    free(sums);
}
