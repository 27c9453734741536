#include "srad.h"

void srad(int rows, int columns, int iterations, float lambda, float *image, float *coefficient, float *north,
          float *south, float *west, float *east)
{
    int pixels = rows * columns;
#pragma omp target map(tofrom: image[0:pixels]) \
    map(alloc: coefficient[0:pixels], north[0:pixels], south[0:pixels], west[0:pixels], east[0:pixels])
    {
        for (int t = 0; t < iterations; t++) {
            double sum = 0, squares = 0;
#pragma omp parallel for reduction(+ : sum, squares)
            for (int i = 0; i < rows; i++)
                for (int j = 0; j < columns; j++) {
                    float value = image[i * columns + j];
                    sum += value;
                    squares += value * value;
                }
            double mean = sum / pixels;
            double variance = squares / pixels - mean * mean;
            float q0 = (float)(variance / (mean * mean));

#pragma omp parallel for
            for (int i = 0; i < rows; i++) {
                int above = i > 0 ? i - 1 : i;
                int below = i < rows - 1 ? i + 1 : i;
                for (int j = 0; j < columns; j++) {
                    int pixel = i * columns + j;
                    int left = j > 0 ? j - 1 : j;
                    int right = j < columns - 1 ? j + 1 : j;
                    float value = image[pixel];
                    float n = image[above * columns + j] - value;
                    float s = image[below * columns + j] - value;
                    float w = image[i * columns + left] - value;
                    float e = image[i * columns + right] - value;
                    float gradient = (n * n + s * s + w * w + e * e) / (value * value);
                    float laplacian = (n + s + w + e) / value;
                    float numerator = 0.5f * gradient - 0.0625f * laplacian * laplacian;
                    float weight = 1 + 0.25f * laplacian;
                    float q = numerator / (weight * weight);
                    float c = 1 / (1 + (q - q0) / (q0 * (1 + q0)));
                    if (c < 0)
                        c = 0;
                    else if (c > 1)
                        c = 1;
                    north[pixel] = n;
                    south[pixel] = s;
                    west[pixel] = w;
                    east[pixel] = e;
                    coefficient[pixel] = c;
                }
            }

#pragma omp parallel for
            for (int i = 0; i < rows; i++) {
                int below = i < rows - 1 ? i + 1 : i;
                for (int j = 0; j < columns; j++) {
                    int pixel = i * columns + j;
                    int right = j < columns - 1 ? j + 1 : j;
                    float here = coefficient[pixel];
                    float change = here * north[pixel] + coefficient[below * columns + j] * south[pixel] +
                                   here * west[pixel] + coefficient[i * columns + right] * east[pixel];
                    image[pixel] += 0.25f * lambda * change;
                }
            }
        }
    }
}
