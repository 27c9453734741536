#include "convolution.h"
#include "program.h"

// Both loops collapsed, one pixel a thread; neighbouring threads take neighbouring columns.
void convolution(int rows, int columns, const float *image, const float *mask, float *out)
{
    int threads = tunable("threads", 128);
    int teams = (rows * columns - 1) / threads + 1;
#pragma omp target teams distribute parallel for collapse(2) num_teams(teams) thread_limit(threads) \
    map(to: image[0:rows * columns], mask[0:WINDOW * WINDOW]) map(from: out[0:rows * columns])
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++) {
            float sum = 0;
            for (int v = 0; v < WINDOW; v++)
                for (int u = 0; u < WINDOW; u++) {
                    int y = i + v - RADIUS, x = j + u - RADIUS;
                    if (y >= 0 && y < rows && x >= 0 && x < columns)
                        sum += image[y * columns + x] * mask[v * WINDOW + u];
                }
            out[i * columns + j] = sum;
        }
}
