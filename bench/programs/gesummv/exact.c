#include "gesummv.h"
#include "program.h"

// One thread a row, in the order of `naive`, both sums in registers, in small blocks, which reach all multiprocessors. Where rows begin
// on a border of four elements a thread loads four at a time, which use up the sectors that it asks for; the sums unrolled, so that
// more of them are under way.
enum { THREADS = 8 };

static inline float row_of(int n, float alpha, float beta, const float *a, const float *b, const float *x)
{
    float tmp = 0, y = 0;
#pragma omp unroll partial(32)
    for (int j = 0; j < n; j++) {
        tmp += a[j] * x[j];
        y += b[j] * x[j];
    }
    return alpha * tmp + beta * y;
}

static inline float row_of_quads(int n, float alpha, float beta, const float *a, const float *b, const float *x)
{
    return row_of(n, alpha, beta, __builtin_assume_aligned(a, 16), __builtin_assume_aligned(b, 16),
                  __builtin_assume_aligned(x, 16));
}

void gesummv(int n, float alpha, float beta, const float *a, const float *b, const float *x, float *tmp, float *y)
{
    (void)tmp;
    int quads = tunable("quads", n % 4 == 0);
    int teams = (n + THREADS - 1) / THREADS;
#pragma omp target teams distribute parallel for num_teams(teams) thread_limit(THREADS) \
    map(to: a[0:n * n], b[0:n * n], x[0:n]) map(from: y[0:n])
    for (int i = 0; i < n; i++) {
        const float *left = a + i * n, *right = b + i * n;
        y[i] = quads ? row_of_quads(n, alpha, beta, left, right, x) : row_of(n, alpha, beta, left, right, x);
    }
}
