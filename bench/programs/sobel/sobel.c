// Edge detection with Sobel's operator on a grey image, clipped and scaled (ours).
#include "program.h"
#include "sobel.h"

#include <stdlib.h>

static const int threshold = 600;
static int rows, columns;
static int *image, *strength, *edges, *expected;

static void allocate(const long *sizes)
{
    rows = (int)sizes[0];
    columns = (int)sizes[1];
    size_t pixels = (size_t)rows * columns;
    image = new_ints(pixels);
    strength = new_ints(pixels);
    edges = new_ints(pixels);
    expected = new_ints(pixels);
}

static void prepare(void)
{
    fill_ints(image, (size_t)rows * columns, 0, 255);
    poison_ints(strength, (size_t)rows * columns);
    poison_ints(edges, (size_t)rows * columns);
}

static void run(void) { sobel(rows, columns, threshold, image, strength, edges); }

static void check(void)
{
#pragma omp parallel for
    for (int i = 0; i < rows; i++) {
        const int *here = image + (size_t)i * columns;
        const int *above = i > 0 ? here - columns : here;
        const int *below = i < rows - 1 ? here + columns : here;
        for (int j = 0; j < columns; j++) {
            int l = j > 0 ? j - 1 : j;
            int r = j < columns - 1 ? j + 1 : j;
            int gx = above[r] - above[l] + 2 * (here[r] - here[l]) + below[r] - below[l];
            int gy = below[l] - above[l] + 2 * (below[j] - above[j]) + below[r] - above[r];
            int sum = abs(gx) + abs(gy);
            expected[(size_t)i * columns + j] = (sum < threshold ? sum : threshold) * 255 / threshold;
        }
    }
    check_ints("edges", edges, expected, (size_t)rows * columns);
}

static struct work work(void)
{
    double pixels = (double)rows * columns;
    return (struct work){
        .bytes_in = 4 * pixels,
        .bytes_out = 4 * pixels,
        .device_bytes = 2 * 4 * pixels,
    };
}

const struct program program = {"sobel", "rows columns", allocate, prepare, run, check, work};
