#include "program.h"
#include "reduction.h"

#include <math.h>

// A launch for each loop, x on the device for both. As many teams as the device holds at once, because every team adds
// its share at the end.
void reduction(int n, const float *x, double *sum, float *largest)
{
    int threads = tunable("threads", 512);
    int teams = tunable("teams", 528);
    double total = 0;
    float most = 0;
#pragma omp target data map(to: x[0:n])
    {
#pragma omp target teams distribute parallel for num_teams(teams) thread_limit(threads) \
    map(tofrom: total) reduction(+ : total)
        for (int i = 0; i < n; i++)
            total += x[i];

#pragma omp target teams distribute parallel for num_teams(teams) thread_limit(threads) \
    map(tofrom: most) reduction(max : most)
        for (int i = 0; i < n; i++) {
            float size = fabsf(x[i]);
            if (size > most)
                most = size;
        }
    }
    *sum = total;
    *largest = most;
}
