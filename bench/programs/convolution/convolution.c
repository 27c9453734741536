// A filter of 9 x 9 weights over an image (after the AMD samples' simple convolution).
#include "convolution.h"
#include "program.h"

static int rows, columns;
static float *image, *mask, *out;
static double *expected; // in double precision

static void allocate(const long *sizes)
{
    rows = (int)sizes[0];
    columns = (int)sizes[1];
    image = new_floats((size_t)rows * columns);
    mask = new_floats(WINDOW * WINDOW);
    out = new_floats((size_t)rows * columns);
    expected = new_doubles((size_t)rows * columns);
}

static void prepare(void)
{
    fill_floats(image, (size_t)rows * columns, 0.0f, 1.0f);
    fill_floats(mask, WINDOW * WINDOW, -1.0f, 1.0f);
    poison_floats(out, (size_t)rows * columns);
}

static void run(void) { convolution(rows, columns, image, mask, out); }

static void check(void)
{
#pragma omp parallel for
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++) {
            double sum = 0;
            for (int v = 0; v < WINDOW; v++)
                for (int u = 0; u < WINDOW; u++) {
                    int y = i + v - RADIUS, x = j + u - RADIUS;
                    if (y >= 0 && y < rows && x >= 0 && x < columns)
                        sum += (double)image[(size_t)y * columns + x] * mask[v * WINDOW + u];
                }
            expected[(size_t)i * columns + j] = sum;
        }
    check_floats("out", out, expected, (size_t)rows * columns, 1e-5);
}

static struct work work(void)
{
    double pixels = (double)rows * columns;
    return (struct work){.bytes_in = 4 * pixels,
                         .bytes_out = 4 * pixels,
                         .device_bytes = 2 * 4 * pixels,
                         .operations = 2.0 * WINDOW * WINDOW * pixels};
}

const struct program program = {"convolution", "rows columns", allocate, prepare, run, check, work};
