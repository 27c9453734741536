#include "fast_walsh.h"
#include "program.h"

// Three steps a launch, which read and write everything once: a thread takes eight values, `step` apart, through them in registers. One
// or two steps that are left come first.
static void one_step(int n, int step, float *values)
{
    int threads = tunable("threads", 256);
    int teams = (n / 2 + threads - 1) / threads;
#pragma omp target teams distribute parallel for num_teams(teams) thread_limit(threads)
    for (int pair = 0; pair < n / 2; pair++) {
        int first = pair / step * 2 * step + pair % step;
        float a = values[first];
        float b = values[first + step];
        values[first] = a + b;
        values[first + step] = a - b;
    }
}

static void three_steps(int n, int step, float *values)
{
    int threads = tunable("threads", 256);
    int teams = (n / 8 + threads - 1) / threads;
#pragma omp target teams distribute parallel for num_teams(teams) thread_limit(threads)
    for (int eight = 0; eight < n / 8; eight++) {
        int first = eight / step * 8 * step + eight % step;
        float v[8];
#pragma omp unroll full
        for (int e = 0; e < 8; e++)
            v[e] = values[first + e * step];
#pragma omp unroll full
        for (int bit = 0; bit < 3; bit++)
#pragma omp unroll full
            for (int e = 0; e < 8; e++)
                if ((e >> bit & 1) == 0) {
                    float a = v[e];
                    float b = v[e + (1 << bit)];
                    v[e] = a + b;
                    v[e + (1 << bit)] = a - b;
                }
#pragma omp unroll full
        for (int e = 0; e < 8; e++)
            values[first + e * step] = v[e];
    }
}

void fast_walsh(int n, float *values)
{
    int steps = 0;
    while (n >> steps > 1)
        steps++;
#pragma omp target data map(tofrom: values[0:n])
    {
        int step = 1;
        for (int left = steps % 3; left > 0; left--) {
            one_step(n, step, values);
            step *= 2;
        }
        for (; step < n; step *= 8)
            three_steps(n, step, values);
    }
}
