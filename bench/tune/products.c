/* Many products of small matrices, one behind the other in memory. */
#include <stdio.h>
#include <stdlib.h>

enum { SIDE = 32, SIZE = SIDE * SIDE, REPEATS = 5 };

static void products(int n, const float *a, const float *b, float *c)
{
#pragma omp target teams distribute parallel for collapse(3) map(to: a[0:n*SIZE], b[0:n*SIZE]) map(tofrom: c[0:n*SIZE])
    for (int m = 0; m < n; m++)
        for (int i = 0; i < SIDE; i++)
            for (int j = 0; j < SIDE; j++) {
                float sum = 0;
                for (int k = 0; k < SIDE; k++)
                    sum += a[m * SIZE + i * SIDE + k] * b[m * SIZE + k * SIDE + j];
                c[m * SIZE + i * SIDE + j] = sum;
            }
}

int main(int count, char **arguments)
{
    int n = count > 1 ? atoi(arguments[1]) : 256;
    size_t all = (size_t)n * SIZE;
    float *a = malloc(all * sizeof *a), *b = malloc(all * sizeof *b), *c = calloc(all, sizeof *c);
    for (size_t i = 0; i < all; i++) {
        a[i] = (float)(i % 13) / 16;
        b[i] = (float)(i % 7) / 8;
    }
#pragma omp target data map(to: a[0:all], b[0:all]) map(tofrom: c[0:all])
    for (int r = 0; r < REPEATS; r++)
        products(n, a, b, c);
    double sum = 0;
    for (size_t i = 0; i < all; i++)
        sum += c[i];
    printf("%.6e\n", sum);
    return 0;
}
