/* Windows around each element of an image, which a condition keeps within it. Prints the microseconds of each kernel for some lengths of a side: the least
   of nine runs. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { TIMES = 9 };

static void three(int rows, int columns, const float *image, const float *mask, float *out)
{
#pragma omp target teams distribute parallel for collapse(2) map(to: image[0:rows * columns], mask[0:9]) map(from: out[0:rows * columns])
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++) {
            float sum = 0;
            for (int v = -1; v <= 1; v++)
                for (int u = -1; u <= 1; u++)
                    if (i + v >= 0 && i + v < rows && j + u >= 0 && j + u < columns)
                        sum += image[(i + v) * columns + j + u] * mask[(v + 1) * 3 + u + 1];
            out[i * columns + j] = sum;
        }
}

static void five(int rows, int columns, const float *image, const float *mask, float *out)
{
#pragma omp target teams distribute parallel for collapse(2) map(to: image[0:rows * columns], mask[0:25]) map(from: out[0:rows * columns])
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++) {
            float sum = 0;
            for (int v = 0; v < 5; v++)
                for (int u = 0; u < 5; u++) {
                    int y = i + v - 2, x = j + u - 2;
                    if (y >= 0 && y < rows && x >= 0 && x < columns)
                        sum += image[y * columns + x] * mask[v * 5 + u];
                }
            out[i * columns + j] = sum;
        }
}

static void seven(int rows, int columns, const double *image, const double *mask, double *out)
{
#pragma omp target teams distribute parallel for collapse(2) map(to: image[0:rows * columns], mask[0:49]) map(from: out[0:rows * columns])
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++) {
            double sum = 0;
            for (int v = 0; v < 7; v++)
                for (int u = 0; u < 7; u++) {
                    int y = i + v - 3, x = j + u - 3;
                    if (y >= 0 && y < rows && x >= 0 && x < columns)
                        sum += image[y * columns + x] * mask[v * 7 + u];
                }
            out[i * columns + j] = sum;
        }
}

static void nine(int rows, int columns, const float *image, const float *mask, float *out)
{
#pragma omp target teams distribute parallel for collapse(2) map(to: image[0:rows * columns], mask[0:81]) map(from: out[0:rows * columns])
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++) {
            float sum = 0;
            for (int v = 0; v < 9; v++)
                for (int u = 0; u < 9; u++) {
                    int y = i + v - 4, x = j + u - 4;
                    if (y >= 0 && y < rows && x >= 0 && x < columns)
                        sum += image[y * columns + x] * mask[v * 9 + u];
                }
            out[i * columns + j] = sum;
        }
}

static void largest(int rows, int columns, const float *image, const float *mask, float *out)
{
#pragma omp target teams distribute parallel for collapse(2) map(to: image[0:rows * columns], mask[0:25]) map(from: out[0:rows * columns])
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++) {
            float most = mask[0];
            for (int v = 0; v < 5; v++)
                for (int u = 0; u < 5; u++) {
                    int y = i + v - 2, x = j + u - 2;
                    if (y >= 0 && y < rows && x >= 0 && x < columns)
                        most = image[y * columns + x] > most ? image[y * columns + x] : most;
                }
            out[i * columns + j] = most;
        }
}

#define TIMED(call) \
    do { \
        double best = 0; \
        for (int t = 0; t < TIMES; t++) { \
            double start = omp_get_wtime(); \
            call; \
            double took = (omp_get_wtime() - start) * 1e6; \
            best = best > 0 && best < took ? best : took; \
        } \
        printf(",%.1f", best); \
    } while (0)

static void all(int n, double *sum)
{
    size_t elements = (size_t)n * (size_t)n;
    float *image = malloc(elements * sizeof *image), *out = malloc(4 * elements * sizeof *out), mask[81];
    double *wide = malloc(elements * sizeof *wide), *wide_out = malloc(elements * sizeof *wide_out), wide_mask[49];
    float *second = out + elements, *third = second + elements, *fourth = third + elements;
    for (size_t i = 0; i < elements; i++)
        wide[i] = image[i] = (float)(i * 7 % 23) * 0.1f;
    for (int i = 0; i < 81; i++)
        mask[i] = (float)(i % 5) * 0.05f;
    for (int i = 0; i < 49; i++)
        wide_mask[i] = i % 5 * 0.05;
    printf("%d", n);
#pragma omp target data map(to: image[0:elements], wide[0:elements], mask, wide_mask) \
    map(from: out[0:elements], second[0:elements], third[0:elements], fourth[0:elements], wide_out[0:elements])
    {
        TIMED(three(n, n, image, mask, out));
        TIMED(five(n, n, image, mask, second));
        TIMED(seven(n, n, wide, wide_mask, wide_out));
        TIMED(nine(n, n, image, mask, third));
        TIMED(largest(n, n, image, mask, fourth));
    }
    for (size_t i = 0; i < elements; i++)
        *sum += (out[i] + 2 * second[i] + 3 * third[i] + 4 * fourth[i] + wide_out[i]) * (double)(1 + i % 7);
    free(image), free(out), free(wide), free(wide_out);
}

int main(void)
{
    for (int n = 128; n <= 8192; n *= 4) {
        double sum = 0;
        all(n, &sum);
        printf(",%.17g\n", sum);
    }
    return 0;
}
