#include "filter_frames.h"

#include <stdlib.h>
#include <string.h>

// Only the frame and its result travel; what is between them never leaves the device.
static void filter(int height, int width, int radius, const float *weights, const float *in, float *rows, float *out)
{
#pragma omp target teams distribute parallel for collapse(2) map(to: in[0:height * width])
    for (int i = 0; i < height; i++)
        for (int j = 0; j < width; j++) {
            float sum = 0;
            for (int k = -radius; k <= radius; k++) {
                int at = j + k < 0 ? 0 : j + k >= width ? width - 1 : j + k;
                sum += weights[k + radius] * in[i * width + at];
            }
            rows[i * width + j] = sum;
        }
#pragma omp target teams distribute parallel for collapse(2) map(from: out[0:height * width])
    for (int i = 0; i < height; i++)
        for (int j = 0; j < width; j++) {
            float sum = 0;
            for (int k = -radius; k <= radius; k++) {
                int at = i + k < 0 ? 0 : i + k >= height ? height - 1 : i + k;
                sum += weights[k + radius] * rows[at * width + j];
            }
            out[i * width + j] = sum;
        }
}

void filter_frames(int frames, int height, int width, int radius, const float *restrict weights,
                   const unsigned char *restrict film, float *restrict blurred)
{
    int pixels = height * width;
    float *in = malloc(pixels * sizeof *in);
    float *rows = malloc(pixels * sizeof *rows);
    float *out = malloc(pixels * sizeof *out);
#pragma omp target data map(to: weights[0:2 * radius + 1]) map(alloc: rows[0:pixels])
    for (int frame = 0; frame < frames; frame++) {
        for (int p = 0; p < pixels; p++)
            in[p] = film[(size_t)frame * pixels + p];
        filter(height, width, radius, weights, in, rows, out);
        memcpy(blurred + (size_t)frame * pixels, out, pixels * sizeof *out);
    }
    free(in);
    free(rows);
    free(out);
}
