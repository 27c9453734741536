#include "program.h"
#include "srad.h"

#include <stdlib.h>

// One launch an iteration, as in ceiling.c. A thread computes its neighbours' coefficients itself and writes the new pixel to a second
// image, and each team leaves the sums of its part of it, which all teams add up at the start of the next iteration. What makes a
// pixel is what `naive` writes; the sums are of type double, which holds those of a million pixels without rounding, so that their
// order, which `naive` leaves open too, changes nothing.
static float coefficient_at(int rows, int columns, float q0, const float *image, int i, int j)
{
    int above = i > 0 ? i - 1 : i;
    int below = i < rows - 1 ? i + 1 : i;
    int left = j > 0 ? j - 1 : j;
    int right = j < columns - 1 ? j + 1 : j;
    float value = image[i * columns + j];
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
    return c < 0 ? 0 : c > 1 ? 1 : c;
}

// A pixel after one iteration.
static float diffused(int rows, int columns, float lambda, float q0, const float *image, int i, int j)
{
    int above = i > 0 ? i - 1 : i;
    int below = i < rows - 1 ? i + 1 : i;
    int left = j > 0 ? j - 1 : j;
    int right = j < columns - 1 ? j + 1 : j;
    float value = image[i * columns + j];
    float north = image[above * columns + j] - value;
    float south = image[below * columns + j] - value;
    float west = image[i * columns + left] - value;
    float east = image[i * columns + right] - value;
    float here = coefficient_at(rows, columns, q0, image, i, j);
    float coefficient_below = coefficient_at(rows, columns, q0, image, below, j);
    float coefficient_right = coefficient_at(rows, columns, q0, image, i, right);
    float change = here * north + coefficient_below * south + here * west + coefficient_right * east;
    value += 0.25f * lambda * change;
    return value;
}

static float q0_of(double sum, double squares, int pixels)
{
    double mean = sum / pixels;
    double variance = squares / pixels - mean * mean;
    return (float)(variance / (mean * mean));
}

static void sum_up(int pixels, int teams, const float *image, double *sums, double *squares)
{
    int threads = tunable("threads", 256);
    int part = (pixels + teams - 1) / teams;
#pragma omp target teams distribute num_teams(teams) thread_limit(threads)
    for (int team = 0; team < teams; team++) {
        int end = pixels / part > team ? (team + 1) * part : pixels;
        double sum = 0, square = 0;
#pragma omp parallel for reduction(+ : sum, square)
        for (int pixel = team * part; pixel < end; pixel++) {
            float value = image[pixel];
            sum += value;
            square += value * value;
        }
        sums[team] = sum;
        squares[team] = square;
    }
}

static void step(int rows, int columns, int teams, float lambda, const float *image, const double *sums,
                 const double *squares, float *new_image, double *new_sums, double *new_squares)
{
    int threads = tunable("threads", 256);
    int pixels = rows * columns;
    int part = (pixels + teams - 1) / teams;
#pragma omp target teams distribute num_teams(teams) thread_limit(threads)
    for (int team = 0; team < teams; team++) {
        double sum = 0, square = 0;
#pragma omp parallel for reduction(+ : sum, square)
        for (int other = 0; other < teams; other++) {
            sum += sums[other];
            square += squares[other];
        }
        float q0 = q0_of(sum, square, pixels);

        int end = pixels / part > team ? (team + 1) * part : pixels;
        double new_sum = 0, new_square = 0;
#pragma omp parallel for reduction(+ : new_sum, new_square)
        for (int pixel = team * part; pixel < end; pixel++) {
            float value = diffused(rows, columns, lambda, q0, image, pixel / columns, pixel % columns);
            new_image[pixel] = value;
            new_sum += value;
            new_square += value * value;
        }
        new_sums[team] = new_sum;
        new_squares[team] = new_square;
    }
}

static void copy(int pixels, const float *from, float *to)
{
    int threads = tunable("copy_threads", 256);
    int teams = (pixels + threads - 1) / threads;
#pragma omp target teams distribute parallel for num_teams(teams) thread_limit(threads)
    for (int i = 0; i < pixels; i++)
        to[i] = from[i];
}

void srad(int rows, int columns, int iterations, float lambda, float *image, float *coefficient, float *north,
          float *south, float *west, float *east)
{
    (void)north, (void)south, (void)west, (void)east;
    int pixels = rows * columns;
    int teams = tunable("teams", 528);
    if (teams > pixels)
        teams = pixels;
    double *sums = malloc(4 * teams * sizeof *sums); // only its copy on the device is used
    double *squares = sums + teams, *new_sums = sums + 2 * teams, *new_squares = sums + 3 * teams;
#pragma omp target data map(tofrom: image[0:pixels]) map(alloc: coefficient[0:pixels], sums[0:4 * teams])
    {
        sum_up(pixels, teams, image, sums, squares);
        for (int t = 0; t < iterations; t++) {
            if (t % 2 == 0)
                step(rows, columns, teams, lambda, image, sums, squares, coefficient, new_sums, new_squares);
            else
                step(rows, columns, teams, lambda, coefficient, new_sums, new_squares, image, sums, squares);
        }
        if (iterations % 2 == 1)
            copy(pixels, coefficient, image);
    }
    free(sums);
}
