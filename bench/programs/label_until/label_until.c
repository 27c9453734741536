// Labels that spread through a maze, by rows and by columns, until a flag written on the device stays 0 (ours).
#include "program.h"
#include "label_until.h"

static int n, rounds;
static int *open, *labels, *expected;

static void allocate(const long *sizes)
{
    n = (int)sizes[0];
    size_t cells = (size_t)n * n;
    open = new_ints(cells);
    labels = new_ints(cells);
    expected = new_ints(cells);
}

static void prepare(void)
{
    size_t cells = (size_t)n * n;
    fill_ints(open, cells, 0, 9);
#pragma omp parallel for
    for (size_t i = 0; i < cells; i++) {
        open[i] = open[i] > 4;
        labels[i] = (int)i;
    }
}

static void run(void) { rounds = label_until(n, open, labels); }

static int spread(int c, int from)
{
    int moves = open[c] && open[from] && expected[from] < expected[c];
    if (moves)
        expected[c] = expected[from];
    return moves;
}

static void check(void)
{
    int changed = 1;
    for (int c = 0; c < n * n; c++)
        expected[c] = c;
    while (changed) {
        changed = 0;
        for (int c = 0; c < n * n; c++) {
            changed |= c % n > 0 && spread(c, c - 1);
            changed |= c >= n && spread(c, c - n);
        }
        for (int c = n * n - 1; c >= 0; c--) {
            changed |= c % n < n - 1 && spread(c, c + 1);
            changed |= c < n * (n - 1) && spread(c, c + n);
        }
    }
    check_ints("labels", labels, expected, (size_t)n * n);
}

static struct work work(void)
{
    double cells = (double)n * n;
    return (struct work){
        .bytes_in = 2 * 4 * cells,
        .bytes_out = 4 * cells,
        .device_bytes = 4 * 4 * cells * rounds,
        .operations = 0,
    };
}

const struct program program = {"label_until", "n", allocate, prepare, run, check, work};
