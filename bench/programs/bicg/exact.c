#include "bicg.h"
#include "program.h"

// One launch for both products, which share only inputs: a thread makes an element of s or of q, in the order of `naive`. Small blocks
// reach all multiprocessors; the sums are unrolled, so that more loads are under way. Where rows begin on a border of four elements
// a thread loads four of its row at a time, which use up the sectors that it asks for.
enum { THREADS = 16 };

static inline float column_product(int rows, int columns, const float *column, const float *r)
{
    float sum = 0;
#pragma omp unroll partial(32)
    for (int i = 0; i < rows; i++)
        sum += r[i] * column[i * columns];
    return sum;
}

static inline float row_product(int columns, const float *row, const float *p)
{
    float sum = 0;
#pragma omp unroll partial(64)
    for (int j = 0; j < columns; j++)
        sum += row[j] * p[j];
    return sum;
}

static inline float row_product_of_quads(int columns, const float *row, const float *p)
{
    return row_product(columns, __builtin_assume_aligned(row, 16), __builtin_assume_aligned(p, 16));
}

void bicg(int rows, int columns, const float *a, const float *p, const float *r, float *q, float *s)
{
    int quads = tunable("quads", columns % 4 == 0);
    int row_teams = (rows + THREADS - 1) / THREADS;
    int start = row_teams * THREADS; // whole blocks for the rows, then those for the columns
    int teams = row_teams + (columns + THREADS - 1) / THREADS;
#pragma omp target teams distribute parallel for num_teams(teams) thread_limit(THREADS) \
    map(to: a[0:rows * columns], p[0:columns], r[0:rows]) map(from: q[0:rows], s[0:columns])
    for (int e = 0; e < start + columns; e++) {
        if (e >= start) {
            s[e - start] = column_product(rows, columns, a + (e - start), r);
        } else if (e < rows) {
            const float *row = a + e * columns;
            q[e] = quads ? row_product_of_quads(columns, row, p) : row_product(columns, row, p);
        }
    }
}
