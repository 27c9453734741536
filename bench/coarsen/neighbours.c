/* Kernels that combine elements around one, without a serial loop. Prints the microseconds of each kernel, its launch among them, for some lengths
   of a side: the mean of 20 launches, the least of nine. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { TIMES = 9, LAUNCHES = 20 };

static void five(int n, const float *a, float *b)
{
#pragma omp target teams distribute parallel for collapse(2) map(to: a[0:n * n]) map(tofrom: b[0:n * n])
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < n - 1; j++)
            b[i * n + j] = 0.2f * (a[i * n + j] + a[i * n + j - 1] + a[i * n + j + 1] + a[(i - 1) * n + j] +
                                   a[(i + 1) * n + j]);
}

static void nine(int n, const float *a, float *b)
{
#pragma omp target teams distribute parallel for collapse(2) map(to: a[0:n * n]) map(tofrom: b[0:n * n])
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < n - 1; j++) {
            float above = a[(i - 1) * n + j - 1] + a[(i - 1) * n + j] + a[(i - 1) * n + j + 1];
            float below = a[(i + 1) * n + j - 1] + a[(i + 1) * n + j] + a[(i + 1) * n + j + 1];
            b[i * n + j] = 0.1f * (a[i * n + j - 1] + a[i * n + j] + a[i * n + j + 1] + above + below);
        }
}

static void doubles(int n, const double *a, double *b)
{
#pragma omp target teams distribute parallel for collapse(2) map(to: a[0:n * n]) map(tofrom: b[0:n * n])
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < n - 1; j++)
            b[i * n + j] = 0.2 * (a[i * n + j] + a[i * n + j - 1] + a[i * n + j + 1] + a[(i - 1) * n + j] +
                                  a[(i + 1) * n + j]);
}

static void wave(int n, const float *height, float *velocity)
{
#pragma omp target teams distribute parallel for collapse(2) map(to: height[0:n * n]) map(tofrom: velocity[0:n * n])
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < n - 1; j++) {
            float slope = height[i * n + j - 1] + height[i * n + j + 1] + height[(i - 1) * n + j] +
                          height[(i + 1) * n + j] - 4 * height[i * n + j];
            velocity[i * n + j] = 0.9f * velocity[i * n + j] + 0.2f * slope;
        }
}

static void edges(int n, const int *image, int *strength)
{
#pragma omp target teams distribute parallel for collapse(2) map(to: image[0:n * n]) map(tofrom: strength[0:n * n])
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            int above = i > 0 ? i - 1 : i, below = i < n - 1 ? i + 1 : i;
            int left = j > 0 ? j - 1 : j, right = j < n - 1 ? j + 1 : j;
            int x = image[above * n + right] + 2 * image[i * n + right] + image[below * n + right] -
                    image[above * n + left] - 2 * image[i * n + left] - image[below * n + left];
            int y = image[below * n + left] + 2 * image[below * n + j] + image[below * n + right] -
                    image[above * n + left] - 2 * image[above * n + j] - image[above * n + right];
            strength[i * n + j] = (x < 0 ? -x : x) + (y < 0 ? -y : y);
        }
}

/* Of a cube with as many elements as a square of n by n has about. */
static void seven(int n, const double *a, double *b)
{
#pragma omp target teams distribute parallel for collapse(3) map(to: a[0:n * n * n]) map(tofrom: b[0:n * n * n])
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < n - 1; j++)
            for (int k = 1; k < n - 1; k++) {
                int cell = (i * n + j) * n + k;
                b[cell] = a[cell] + 0.1 * (a[cell - n * n] + a[cell + n * n] + a[cell - n] + a[cell + n] + a[cell - 1] +
                                           a[cell + 1]);
            }
}

#define TIMED(call) \
    do { \
        double best = 0; \
        for (int t = 0; t < TIMES; t++) { \
            double start = omp_get_wtime(); \
            for (int l = 0; l < LAUNCHES; l++) \
                call; \
            double took = (omp_get_wtime() - start) * 1e6 / LAUNCHES; \
            best = best > 0 && best < took ? best : took; \
        } \
        printf(",%.1f", best); \
    } while (0)

static void all(int n, double *sum)
{
    int side = 1;
    while ((side + 1) * (side + 1) * (side + 1) <= n * n)
        side++;
    size_t elements = (size_t)n * (size_t)n;
    float *a = malloc(elements * sizeof *a), *b = malloc(3 * elements * sizeof *b);
    float *second = b + elements, *third = second + elements;
    double *wide = malloc(elements * sizeof *wide), *wide_out = malloc(2 * elements * sizeof *wide_out);
    double *cube = wide_out + elements;
    int *image = malloc(elements * sizeof *image), *strength = malloc(elements * sizeof *strength);
    for (size_t i = 0; i < elements; i++) {
        wide[i] = a[i] = (float)(i * 7 % 23) * 0.1f;
        b[i] = second[i] = third[i] = 0;
        wide_out[i] = cube[i] = 0;
        image[i] = (int)(i * 11 % 31);
        strength[i] = 0;
    }
    printf("%d", n);
#pragma omp target data map(to: a[0:elements], wide[0:elements], image[0:elements]) \
    map(tofrom: b[0:elements], second[0:elements], third[0:elements], wide_out[0:elements], cube[0:elements], strength[0:elements])
    {
        TIMED(five(n, a, b));
        TIMED(nine(n, a, second));
        TIMED(doubles(n, wide, wide_out));
        TIMED(wave(n, a, third));
        TIMED(edges(n, image, strength));
        TIMED(seven(side, wide, cube));
    }
    for (size_t i = 0; i < elements; i++)
        *sum += (b[i] + 2 * second[i] + 3 * third[i] + wide_out[i] + 2 * cube[i] + strength[i]) * (double)(1 + i % 7);
    free(a), free(b), free(wide), free(wide_out), free(image), free(strength);
}

int main(void)
{
    for (int n = 128; n <= 8192; n *= 2) {
        double sum = 0;
        all(n, &sum);
        printf(",%.17g\n", sum);
    }
    return 0;
}
