#include "axpy.h"
#include "program.h"

// As many blocks as are resident at a time (32 on each of 132 multiprocessors), whose threads go through the vector in
// strides: starting a block costs more than the few bytes that a single iteration moves.
void axpy(int n, float a, const float *x, float *y)
{
    int threads = tunable("threads", 64);
    int teams = tunable("teams", 4224);
#pragma omp target teams distribute parallel for num_teams(teams) thread_limit(threads) \
    map(to: x[0:n]) map(tofrom: y[0:n])
    for (int i = 0; i < n; i++)
        y[i] = a * x[i] + y[i];
}
