/* A five point stencil whose coefficients lie in arrays, swept several times over a square grid. */
#include <stdio.h>
#include <stdlib.h>

enum { SWEEPS = 10 };

static void sweep(int n, const float *centre, const float *side, const float *from, float *to)
{
#pragma omp target teams distribute parallel for collapse(2) map(to: centre[0:n*n], side[0:n*n], from[0:n*n]) map(tofrom: to[0:n*n])
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < n - 1; j++)
            to[i * n + j] = centre[i * n + j] * from[i * n + j] +
                            side[i * n + j] * (from[(i - 1) * n + j] + from[(i + 1) * n + j] + from[i * n + j - 1] + from[i * n + j + 1]);
}

int main(int count, char **arguments)
{
    int n = count > 1 ? atoi(arguments[1]) : 256;
    size_t cells = (size_t)n * n;
    float *centre = malloc(cells * sizeof *centre), *side = malloc(cells * sizeof *side);
    float *one = malloc(cells * sizeof *one), *other = malloc(cells * sizeof *other);
    for (size_t i = 0; i < cells; i++) {
        centre[i] = 0.5f;
        side[i] = 0.125f;
        one[i] = other[i] = (float)(i % 64);
    }
#pragma omp target data map(to: centre[0:cells], side[0:cells]) map(tofrom: one[0:cells], other[0:cells])
    for (int s = 0; s < SWEEPS; s++)
        sweep(n, centre, side, s % 2 ? other : one, s % 2 ? one : other);
    double sum = 0;
    for (size_t i = 0; i < cells; i++)
        sum += one[i];
    printf("%.6e\n", sum);
    return 0;
}
