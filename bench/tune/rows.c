/* Each row of a matrix is divided by its norm: two walks along rows, which neighbouring threads make side by side. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { LENGTH = 512, REPEATS = 5 };

static void normalise(int n, const float *a, float *b)
{
#pragma omp target teams distribute parallel for map(to: a[0:n*LENGTH]) map(tofrom: b[0:n*LENGTH])
    for (int i = 0; i < n; i++) {
        float sum = 0;
        for (int k = 0; k < LENGTH; k++)
            sum += a[i * LENGTH + k] * a[i * LENGTH + k];
        float scale = 1 / sqrtf(sum + 1e-6f);
        for (int k = 0; k < LENGTH; k++)
            b[i * LENGTH + k] = a[i * LENGTH + k] * scale;
    }
}

int main(int count, char **arguments)
{
    int n = count > 1 ? atoi(arguments[1]) : 256;
    size_t all = (size_t)n * LENGTH;
    float *a = malloc(all * sizeof *a), *b = calloc(all, sizeof *b);
    for (size_t i = 0; i < all; i++)
        a[i] = (float)(i % 17) / 16 + 0.5f;
#pragma omp target data map(to: a[0:all]) map(tofrom: b[0:all])
    for (int r = 0; r < REPEATS; r++)
        normalise(n, a, b);
    double sum = 0;
    for (size_t i = 0; i < all; i++)
        sum += b[i];
    printf("%.5e\n", sum);
    return 0;
}
