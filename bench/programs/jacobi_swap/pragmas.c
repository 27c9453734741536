#include "jacobi_swap.h"

#include <stdlib.h>
#include <string.h>

// All grids stay on the device; pointers change places there as on the host, since data are found by their address.
void jacobi_swap(int n, int steps, const float *restrict right, float *restrict x)
{
    size_t bytes = (size_t)n * n * sizeof *x;
    float *old = malloc(bytes);
    float *new = malloc(bytes);
    memcpy(old, x, bytes);
    memcpy(new, x, bytes);
#pragma omp target data map(tofrom: old[0:n * n], new[0:n * n]) map(to: right[0:n * n])
    for (int t = 0; t < steps; t++) {
#pragma omp target teams distribute parallel for collapse(2)
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++)
                new[i * n + j] = 0.25f * (right[i * n + j] + old[(i - 1) * n + j] + old[(i + 1) * n + j] +
                                          old[i * n + j - 1] + old[i * n + j + 1]);
        float *other = old;
        old = new;
        new = other;
    }
    memcpy(x, old, bytes);
    free(old);
    free(new);
}
