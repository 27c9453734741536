#include "sobel.h"

void sobel(int rows, int columns, int threshold, const int *image, int *strength, int *edges)
{
#pragma omp target map(to: image[0:rows * columns]) map(alloc: strength[0:rows * columns]) \
    map(from: edges[0:rows * columns])
    {
#pragma omp parallel for
        for (int i = 0; i < rows; i++) {
            int above = i > 0 ? i - 1 : i;
            int below = i < rows - 1 ? i + 1 : i;
            for (int j = 0; j < columns; j++) {
                int left = j > 0 ? j - 1 : j;
                int right = j < columns - 1 ? j + 1 : j;
                int gx = image[above * columns + right] + 2 * image[i * columns + right] +
                         image[below * columns + right] - image[above * columns + left] -
                         2 * image[i * columns + left] - image[below * columns + left];
                int gy = image[below * columns + left] + 2 * image[below * columns + j] +
                         image[below * columns + right] - image[above * columns + left] -
                         2 * image[above * columns + j] - image[above * columns + right];
                strength[i * columns + j] = (gx < 0 ? -gx : gx) + (gy < 0 ? -gy : gy);
            }
        }

#pragma omp parallel for
        for (int i = 0; i < rows; i++)
            for (int j = 0; j < columns; j++) {
                int value = strength[i * columns + j];
                if (value > threshold)
                    value = threshold;
                edges[i * columns + j] = value * 255 / threshold;
            }
    }
}
