#include "program.h"
#include "srad.h"

// One launch an iteration. A thread computes its neighbours' coefficients itself and writes the new pixel to a second
// image, and each team leaves the sums of its part of it, which all teams add up at the start of the next iteration.
// Of the scratch arrays one is that image and four hold the sums, one number a team.
static float coefficient_at(int rows, int columns, float q0, const float *image, int i, int j)
{
    int pixel = i * columns + j;
    float value = image[pixel];
    float n = i > 0 ? image[pixel - columns] - value : 0;
    float s = i < rows - 1 ? image[pixel + columns] - value : 0;
    float w = j > 0 ? image[pixel - 1] - value : 0;
    float e = j < columns - 1 ? image[pixel + 1] - value : 0;
    float gradient = (n * n + s * s + w * w + e * e) / (value * value);
    float laplacian = (n + s + w + e) / value;
    float weight = 1 + 0.25f * laplacian;
    float q = (0.5f * gradient - 0.0625f * laplacian * laplacian) / (weight * weight);
    float c = 1 / (1 + (q - q0) / (q0 * (1 + q0)));
    return c < 0 ? 0 : c > 1 ? 1 : c;
}

// A pixel after one iteration.
static float diffused(int rows, int columns, float lambda, float q0, const float *image, int i, int j)
{
    int pixel = i * columns + j;
    float value = image[pixel];
    float change = 0;
    if (i > 0)
        change += image[pixel - columns] - value;
    if (j > 0)
        change += image[pixel - 1] - value;
    change *= coefficient_at(rows, columns, q0, image, i, j);
    if (i < rows - 1)
        change += coefficient_at(rows, columns, q0, image, i + 1, j) * (image[pixel + columns] - value);
    if (j < columns - 1)
        change += coefficient_at(rows, columns, q0, image, i, j + 1) * (image[pixel + 1] - value);
    return value + 0.25f * lambda * change;
}

static float q0_of(double sum, double squares, int pixels)
{
    double mean = sum / pixels;
    double variance = squares / pixels - mean * mean;
    return (float)(variance / (mean * mean));
}

static void sum_up(int pixels, int teams, const float *image, float *sums, float *squares)
{
    int threads = tunable("threads", 256);
    int part = (pixels + teams - 1) / teams;
#pragma omp target teams distribute num_teams(teams) thread_limit(threads)
    for (int team = 0; team < teams; team++) {
        int end = pixels / part > team ? (team + 1) * part : pixels;
        double sum = 0, square = 0;
#pragma omp parallel for reduction(+ : sum, square)
        for (int pixel = team * part; pixel < end; pixel++) {
            sum += image[pixel];
            square += image[pixel] * image[pixel];
        }
        sums[team] = (float)sum;
        squares[team] = (float)square;
    }
}

static void step(int rows, int columns, int teams, float lambda, const float *image, const float *sums,
                 const float *squares, float *new_image, float *new_sums, float *new_squares)
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
        new_sums[team] = (float)new_sum;
        new_squares[team] = (float)new_square;
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
    int pixels = rows * columns;
    int teams = tunable("teams", 528);
    if (teams > pixels)
        teams = pixels;
#pragma omp target data map(tofrom: image[0:pixels]) \
    map(alloc: coefficient[0:pixels], north[0:teams], south[0:teams], west[0:teams], east[0:teams])
    {
        sum_up(pixels, teams, image, north, south);
        for (int t = 0; t < iterations; t++) {
            if (t % 2 == 0)
                step(rows, columns, teams, lambda, image, north, south, coefficient, west, east);
            else
                step(rows, columns, teams, lambda, coefficient, west, east, image, north, south);
        }
        if (iterations % 2 == 1)
            copy(pixels, coefficient, image);
    }
}
