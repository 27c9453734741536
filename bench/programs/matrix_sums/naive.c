#include "matrix_sums.h"

void matrix_sums(int n, int k, const float *m, float *out)
{
#pragma omp target map(to: m[0:k * n * n]) map(tofrom: out[0:n * n])
#pragma omp parallel for
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            float sum = 0;
            for (int q = 0; q < n; q++)
                for (int matrix = 0; matrix < k; matrix++)
                    sum += m[(matrix * n + j) * n + q];
            out[i * n + j] += sum;
        }
}
