// The place of a number among many that are sorted (as in the AMD samples), in few rounds of many parts: kernels that do next to nothing.
#include "binary_search.h"
#include "program.h"

static int n, parts, key;
static int *steps, *sorted, *place, *expected;

static void allocate(const long *sizes)
{
    n = (int)sizes[0];
    parts = (int)sizes[1];
    steps = new_ints((size_t)n + 1);
    sorted = new_ints(n);
    place = new_ints(1);
    expected = new_ints(1);
}

// The last random number picks the place of the key.
static void prepare(void)
{
    fill_ints(steps, (size_t)n + 1, 1, 100);
    int sum = 0, picked = 0;
    for (int i = 0; i < n; i++) {
        sum += steps[i];
        sorted[i] = sum;
    }
    picked = (int)((long)n * steps[n] / 101);
    expected[0] = picked;
    key = sorted[picked];
    poison_ints(place, 1);
}

static void run(void) { binary_search(n, parts, sorted, key, place); }

static void check(void) { check_ints("place", place, expected, 1); }

static struct work work(void)
{
    return (struct work){.bytes_in = 4.0 * n};
}

const struct program program = {"binary_search", "n parts", allocate, prepare, run, check, work};
