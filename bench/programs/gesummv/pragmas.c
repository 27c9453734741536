#include "gesummv.h"
#include "program.h"

// A team for each row, whose threads read neighbouring elements and reduce into array sections of one element.
void gesummv(int n, float alpha, float beta, const float *a, const float *b, const float *x, float *tmp, float *y)
{
    int threads = tunable("threads", 256);
#pragma omp target teams distribute num_teams(n) thread_limit(threads) \
    map(to: a[0:n * n], b[0:n * n], x[0:n]) map(alloc: tmp[0:n]) map(from: y[0:n])
    for (int i = 0; i < n; i++) {
        tmp[i] = 0;
        y[i] = 0;
#pragma omp parallel for reduction(+ : tmp[i:1], y[i:1])
        for (int j = 0; j < n; j++) {
            tmp[i] += a[i * n + j] * x[j];
            y[i] += b[i * n + j] * x[j];
        }
        y[i] = alpha * tmp[i] + beta * y[i];
    }
}
