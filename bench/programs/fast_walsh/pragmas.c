#include "fast_walsh.h"
#include "program.h"

// A launch for each step, in one data environment.
void fast_walsh(int n, float *values)
{
    int threads = tunable("threads", 256);
    int teams = (n / 2 + threads - 1) / threads;
#pragma omp target data map(tofrom: values[0:n])
    for (int step = 1; step < n; step *= 2) {
#pragma omp target teams distribute parallel for num_teams(teams) thread_limit(threads)
        for (int pair = 0; pair < n / 2; pair++) {
            int first = pair / step * 2 * step + pair % step;
            float a = values[first];
            float b = values[first + step];
            values[first] = a + b;
            values[first + step] = a - b;
        }
    }
}
