// A blur that is called for each frame of a film (ours).
#include "program.h"
#include "filter_frames.h"

#include <stdlib.h>

static const int radius = 4;
static int frames, height, width;
static float *weights, *blurred;
static unsigned char *film;
static int *values;
static double *expected, *rows;

static void allocate(const long *sizes)
{
    frames = (int)sizes[0];
    height = (int)sizes[1];
    width = (int)sizes[2];
    size_t all = (size_t)frames * height * width;
    weights = new_floats(2 * radius + 1);
    blurred = new_floats(all);
    values = new_ints((all + 3) / 4);
    film = (unsigned char *)values;
    expected = new_doubles(all);
    rows = new_doubles((size_t)height * width);
}

static void prepare(void)
{
    size_t all = (size_t)frames * height * width;
    fill_floats(weights, 2 * radius + 1, 0.05f, 0.15f);
    fill_ints(values, (all + 3) / 4, 0, 1 << 30);
    poison_floats(blurred, all);
}

static void run(void) { filter_frames(frames, height, width, radius, weights, film, blurred); }

static int clamped(int value, int end) { return value < 0 ? 0 : value >= end ? end - 1 : value; }

static void check(void)
{
    size_t pixels = (size_t)height * width;
    for (int frame = 0; frame < frames; frame++) {
        const unsigned char *in = film + frame * pixels;
#pragma omp parallel for
        for (int i = 0; i < height; i++)
            for (int j = 0; j < width; j++) {
                double sum = 0;
                for (int k = -radius; k <= radius; k++)
                    sum += (double)weights[k + radius] * in[(size_t)i * width + clamped(j + k, width)];
                rows[(size_t)i * width + j] = sum;
            }
#pragma omp parallel for
        for (int i = 0; i < height; i++)
            for (int j = 0; j < width; j++) {
                double sum = 0;
                for (int k = -radius; k <= radius; k++)
                    sum += (double)weights[k + radius] * rows[(size_t)clamped(i + k, height) * width + j];
                expected[frame * pixels + (size_t)i * width + j] = sum;
            }
    }
    check_floats("blurred", blurred, expected, frames * pixels, 1e-5);
}

static struct work work(void)
{
    double all = (double)frames * height * width;
    return (struct work){
        .bytes_in = 4 * all,
        .bytes_out = 4 * all,
        .device_bytes = 4 * 4 * all,
        .operations = 4 * (2 * radius + 1) * all,
    };
}

const struct program program = {"filter_frames", "frames height width", allocate, prepare, run, check, work};
