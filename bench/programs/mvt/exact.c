#include "mvt.h"
#include "program.h"

// One launch for both products, which share only inputs: a thread makes an element of x1 or of x2, in the order of `naive`. Small blocks
// reach all multiprocessors; the sums are unrolled, so that more loads are under way. Where rows begin on a border of four elements
// a thread loads four of its row at a time, which use up the sectors that it asks for.
enum { THREADS = 16 };

static inline float add_column(float sum, int n, const float *column, const float *y2)
{
#pragma omp unroll partial(32)
    for (int j = 0; j < n; j++)
        sum += column[j * n] * y2[j];
    return sum;
}

static inline float add_row(float sum, int n, const float *row, const float *y1)
{
#pragma omp unroll partial(64)
    for (int j = 0; j < n; j++)
        sum += row[j] * y1[j];
    return sum;
}

static inline float add_row_of_quads(float sum, int n, const float *row, const float *y1)
{
    return add_row(sum, n, __builtin_assume_aligned(row, 16), __builtin_assume_aligned(y1, 16));
}

void mvt(int n, const float *a, const float *y1, const float *y2, float *x1, float *x2)
{
    int quads = tunable("quads", n % 4 == 0);
    int half = (n + THREADS - 1) / THREADS;
    int start = half * THREADS; // whole blocks for the rows, then those for the columns
#pragma omp target teams distribute parallel for num_teams(2 * half) thread_limit(THREADS) \
    map(to: a[0:n * n], y1[0:n], y2[0:n]) map(tofrom: x1[0:n], x2[0:n])
    for (int e = 0; e < start + n; e++) {
        if (e >= start) {
            x2[e - start] = add_column(x2[e - start], n, a + (e - start), y2);
        } else if (e < n) {
            const float *row = a + e * n;
            x1[e] = quads ? add_row_of_quads(x1[e], n, row, y1) : add_row(x1[e], n, row, y1);
        }
    }
}
