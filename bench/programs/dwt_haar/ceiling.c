#include "dwt_haar.h"
#include "program.h"

#include <stdlib.h>

// Three levels a launch: a thread takes eight neighbouring samples, which begin on a border of four, through them in registers. The
// averages that are left take turns between two arrays; the last levels, of at most four samples, are one thread's.
static void three_levels(int length, const float *from, float *to, float *out)
{
    int threads = tunable("threads", 128);
    int eighth = length / 8;
    int teams = (eighth + threads - 1) / threads;
#pragma omp target teams distribute parallel for num_teams(teams) thread_limit(threads)
    for (int i = 0; i < eighth; i++) {
        const float *samples = __builtin_assume_aligned(from + 8 * i, 16);
        float first[4], second[2];
#pragma omp unroll full
        for (int s = 0; s < 4; s++) {
            first[s] = (samples[2 * s] + samples[2 * s + 1]) * HALF_ROOT;
            out[length / 2 + 4 * i + s] = (samples[2 * s] - samples[2 * s + 1]) * HALF_ROOT;
        }
#pragma omp unroll full
        for (int s = 0; s < 2; s++) {
            second[s] = (first[2 * s] + first[2 * s + 1]) * HALF_ROOT;
            out[length / 4 + 2 * i + s] = (first[2 * s] - first[2 * s + 1]) * HALF_ROOT;
        }
        to[i] = (second[0] + second[1]) * HALF_ROOT;
        out[eighth + i] = (second[0] - second[1]) * HALF_ROOT;
    }
}

static void last_levels(int length, const float *from, float *out)
{
#pragma omp target teams distribute parallel for num_teams(1) thread_limit(32)
    for (int only = 0; only < 1; only++) {
        float left[4];
        for (int i = 0; i < length; i++)
            left[i] = from[i];
        for (int half = length / 2; half > 0; half /= 2)
            for (int i = 0; i < half; i++) {
                float average = (left[2 * i] + left[2 * i + 1]) * HALF_ROOT;
                out[half + i] = (left[2 * i] - left[2 * i + 1]) * HALF_ROOT;
                left[i] = average;
            }
        out[0] = left[0];
    }
}

void dwt_haar(int n, const float *signal, float *out, float *work)
{
    float *other = malloc((n / 64 + 1) * sizeof *other); // only its copy on the device is used
#pragma omp target data map(to: signal[0:n]) map(from: out[0:n]) map(alloc: work[0:n / 8 + 1], other[0:n / 64 + 1])
    {
        const float *from = signal;
        int length = n;
        for (int turn = 0; length >= 8; turn++) {
            float *to = turn % 2 == 0 ? work : other;
            three_levels(length, from, to, out);
            from = to;
            length /= 8;
        }
        last_levels(length, from, out);
    }
    free(other);
}
