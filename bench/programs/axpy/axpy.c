// A scaled vector added to another (BLAS's axpy).
#include "axpy.h"
#include "program.h"

#include <math.h>

enum { BLOCK = 4096 }; // elements of which the check keeps the worst

static const float a = 1.5f;
static int n;
static float *x, *y, *y_before, *worst;
static double *worst_expected; // in double precision

static size_t blocks(void) { return ((size_t)n + BLOCK - 1) / BLOCK; }

static void allocate(const long *sizes)
{
    n = (int)sizes[0];
    x = new_floats(n);
    y = new_floats(n);
    y_before = new_floats(n);
    worst = new_floats(blocks());
    worst_expected = new_doubles(blocks());
}

static void prepare(void)
{
    fill_floats(x, n, -1.0f, 1.0f);
    fill_floats(y_before, n, -1.0f, 1.0f);
#pragma omp parallel for
    for (size_t i = 0; i < (size_t)n; i++)
        y[i] = y_before[i];
}

static void run(void) { axpy(n, a, x, y); }

static void check(void)
{
#pragma omp parallel for
    for (size_t block = 0; block < blocks(); block++) {
        size_t end = (block + 1) * BLOCK < (size_t)n ? (block + 1) * BLOCK : (size_t)n;
        double largest = -1;
        for (size_t i = block * BLOCK; i < end; i++) {
            double expected = (double)a * x[i] + y_before[i];
            double deviation = fabs(y[i] - expected);
            if (!(deviation <= largest)) {
                largest = deviation;
                worst[block] = y[i];
                worst_expected[block] = expected;
                if (isnan(deviation))
                    break;
            }
        }
    }
    check_floats("y, the worst of each 4096,", worst, worst_expected, blocks(), 1e-6);
}

static struct work work(void)
{
    double vector = 4.0 * n;
    return (struct work){
        .bytes_in = 2 * vector, .bytes_out = vector, .device_bytes = 3 * vector, .operations = 2.0 * n};
}

const struct program program = {"axpy", "n", allocate, prepare, run, check, work};
