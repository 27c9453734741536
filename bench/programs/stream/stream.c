// A vector in, a chosen number of fused multiply-adds on each element, a vector out: what is gained by copying and
// computing at the same time.
#include "stream.h"
#include "program.h"

#include <math.h>

enum { BLOCK = 4096 }; // elements of which the check keeps the worst

static int n, operations;
static float *in, *out, *worst;
static double *worst_expected; // in double precision

static size_t blocks(void) { return ((size_t)n + BLOCK - 1) / BLOCK; }

static void allocate(const long *sizes)
{
    n = (int)sizes[0];
    operations = (int)sizes[1];
    in = new_floats(n);
    out = new_floats(n);
    worst = new_floats(blocks());
    worst_expected = new_doubles(blocks());
}

// So far from the fixed point, 0.25, that 2000 steps neither wipe out what came in nor get stuck by rounding.
static void prepare(void)
{
    fill_floats(in, n, -100.0f, 100.0f);
    poison_floats(out, n);
}

static void run(void) { stream(n, operations, in, out); }

static void check(void)
{
    // All steps at once: v -> factor v + offset.
    double step = -(double)0.999f;
    double factor = pow(step, operations);
    double offset = 0.5 * (1 - factor) / (1 - step);
#pragma omp parallel for
    for (size_t block = 0; block < blocks(); block++) {
        size_t end = (block + 1) * BLOCK < (size_t)n ? (block + 1) * BLOCK : (size_t)n;
        double largest = -1;
        for (size_t i = block * BLOCK; i < end; i++) {
            double expected = factor * in[i] + offset;
            double deviation = fabs(out[i] - expected);
            if (!(deviation <= largest)) {
                largest = deviation;
                worst[block] = out[i];
                worst_expected[block] = expected;
                if (isnan(deviation))
                    break;
            }
        }
    }
    check_floats("out, the worst of each 4096,", worst, worst_expected, blocks(), 1e-5);
}

static struct work work(void)
{
    double vector = 4.0 * n;
    return (struct work){
        .bytes_in = vector, .bytes_out = vector, .device_bytes = 2 * vector, .operations = 2.0 * n * operations};
}

const struct program program = {"stream", "n operations", allocate, prepare, run, check, work};
