#include "convolution.h"
#include "program.h"

// A thread makes COARSE pixels below each other. It goes through the rows that their windows touch once, and adds each pixel that it has
// loaded to all of the sums that it belongs to: every sum keeps its order. Neighbouring threads take neighbouring columns. Pixels whose
// window sticks out of the image are made one by one.
enum { COARSE = 8 };

static inline float pixel(int rows, int columns, const float *image, const float *mask, int i, int j)
{
    float sum = 0;
    for (int v = 0; v < WINDOW; v++)
        for (int u = 0; u < WINDOW; u++) {
            int y = i + v - RADIUS, x = j + u - RADIUS;
            if (y >= 0 && y < rows && x >= 0 && x < columns)
                sum += image[y * columns + x] * mask[v * WINDOW + u];
        }
    return sum;
}

void convolution(int rows, int columns, const float *image, const float *mask, float *out)
{
    int threads = tunable("threads", 128);
    int groups = (rows + COARSE - 1) / COARSE;
    int teams = (groups * columns - 1) / threads + 1;
#pragma omp target teams distribute parallel for collapse(2) num_teams(teams) thread_limit(threads) \
    map(to: image[0:rows * columns], mask[0:WINDOW * WINDOW]) map(from: out[0:rows * columns])
    for (int group = 0; group < groups; group++)
        for (int j = 0; j < columns; j++) {
            int first = group * COARSE;
            if (first >= RADIUS && rows - first >= COARSE + RADIUS && j >= RADIUS && columns - j > RADIUS) {
                const float *corner = image + (first - RADIUS) * columns + j - RADIUS;
                float sum[COARSE];
#pragma omp unroll full
                for (int r = 0; r < COARSE; r++)
                    sum[r] = 0;
#pragma omp unroll full
                for (int y = 0; y < COARSE + WINDOW - 1; y++)
#pragma omp unroll full
                    for (int u = 0; u < WINDOW; u++) {
                        float here = corner[y * columns + u];
#pragma omp unroll full
                        for (int r = 0; r < COARSE; r++)
                            if (y >= r && y - r < WINDOW)
                                sum[r] += here * mask[(y - r) * WINDOW + u];
                    }
#pragma omp unroll full
                for (int r = 0; r < COARSE; r++)
                    out[(first + r) * columns + j] = sum[r];
            } else {
                for (int i = first; i < first + COARSE && i < rows; i++)
                    out[i * columns + j] = pixel(rows, columns, image, mask, i, j);
            }
        }
}
