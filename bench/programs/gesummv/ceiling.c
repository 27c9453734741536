#include "gesummv.h"
#include "program.h"

// `lanes` neighbouring threads share a row of both matrices and read neighbouring elements; each keeps one sum in a
// register, since the matrices meet before the vector, and adds it atomically. The host writes the zeros of y, which
// costs less than one more launch.
void gesummv(int n, float alpha, float beta, const float *a, const float *b, const float *x, float *tmp, float *y)
{
    (void)tmp;
    int threads = tunable("threads", 256);
    int lanes = tunable("lanes", 32);
    int teams = (n * lanes + threads - 1) / threads;
    for (int i = 0; i < n; i++)
        y[i] = 0;
#pragma omp target teams distribute parallel for collapse(2) num_teams(teams) thread_limit(threads) \
    map(to: a[0:n * n], b[0:n * n], x[0:n]) map(tofrom: y[0:n])
    for (int i = 0; i < n; i++)
        for (int lane = 0; lane < lanes; lane++) {
            float sum = 0;
#pragma omp unroll partial(4)
            for (int j = lane; j < n; j += lanes)
                sum += (alpha * a[i * n + j] + beta * b[i * n + j]) * x[j];
#pragma omp atomic
            y[i] += sum;
        }
}
