// Speckle-reducing anisotropic diffusion (the mathematics of Rodinia's SRAD).
#include "program.h"
#include "srad.h"

#include <math.h>

static const float lambda = 0.5f;
static int rows, columns, iterations;
static float *image, *before, *coefficient, *north, *south, *west, *east;
static double *expected, *expected_next, *expected_coefficient;

static void allocate(const long *sizes)
{
    rows = (int)sizes[0];
    columns = (int)sizes[1];
    iterations = (int)sizes[2];
    size_t pixels = (size_t)rows * columns;
    image = new_floats(pixels);
    before = new_floats(pixels);
    coefficient = new_floats(pixels);
    north = new_floats(pixels);
    south = new_floats(pixels);
    west = new_floats(pixels);
    east = new_floats(pixels);
    expected = new_doubles(pixels);
    expected_next = new_doubles(pixels);
    expected_coefficient = new_doubles(pixels);
}

static void prepare(void)
{
    size_t pixels = (size_t)rows * columns;
    fill_floats(before, pixels, 0.2f, 1.0f);
    poison_floats(coefficient, pixels);
    poison_floats(north, pixels);
    poison_floats(south, pixels);
    poison_floats(west, pixels);
    poison_floats(east, pixels);
#pragma omp parallel for
    for (size_t i = 0; i < pixels; i++)
        image[i] = before[i];
}

static void run(void)
{
    srad(rows, columns, iterations, lambda, image, coefficient, north, south, west, east);
}

// q0 squared of the image: its variance by its squared mean.
static double expect_q0(const double *values)
{
    double sum = 0, squares = 0, pixels = (double)rows * columns;
#pragma omp parallel for reduction(+ : sum, squares)
    for (size_t i = 0; i < (size_t)rows * columns; i++) {
        sum += values[i];
        squares += values[i] * values[i];
    }
    double mean = sum / pixels;
    return (squares / pixels - mean * mean) / (mean * mean);
}

static void expect_step(const double *from, double *to)
{
    double q0 = expect_q0(from);
#pragma omp parallel for
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++) {
            const double *p = from + (size_t)i * columns + j;
            double n = i > 0 ? p[-columns] - *p : 0;
            double s = i < rows - 1 ? p[columns] - *p : 0;
            double w = j > 0 ? p[-1] - *p : 0;
            double e = j < columns - 1 ? p[1] - *p : 0;
            double gradient = (n * n + s * s + w * w + e * e) / (*p * *p);
            double laplacian = (n + s + w + e) / *p;
            double weight = 1 + 0.25 * laplacian;
            double q = (0.5 * gradient - laplacian * laplacian / 16) / (weight * weight);
            double c = 1 / (1 + (q - q0) / (q0 * (1 + q0)));
            expected_coefficient[(size_t)i * columns + j] = fmin(fmax(c, 0), 1);
        }
#pragma omp parallel for
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++) {
            size_t pixel = (size_t)i * columns + j;
            const double *p = from + pixel, *c = expected_coefficient + pixel;
            double change = 0;
            if (i > 0)
                change += *c * (p[-columns] - *p);
            if (i < rows - 1)
                change += c[columns] * (p[columns] - *p);
            if (j > 0)
                change += *c * (p[-1] - *p);
            if (j < columns - 1)
                change += c[1] * (p[1] - *p);
            to[pixel] = *p + 0.25 * lambda * change;
        }
}

static void check(void)
{
    double *from = expected, *to = expected_next;
#pragma omp parallel for
    for (size_t i = 0; i < (size_t)rows * columns; i++)
        expected[i] = before[i];
    for (int t = 0; t < iterations; t++) {
        expect_step(from, to);
        double *swap = from;
        from = to;
        to = swap;
    }
    check_floats("image", image, from, (size_t)rows * columns, 1e-5);
}

static struct work work(void)
{
    double pixels = (double)rows * columns;
    return (struct work){
        .bytes_in = 4 * pixels,
        .bytes_out = 4 * pixels,
        .device_bytes = 2 * 4 * pixels * iterations,
        .operations = 45 * pixels * iterations,
    };
}

const struct program program = {"srad", "rows columns iterations", allocate, prepare, run, check, work};
