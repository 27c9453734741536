#include "backprop.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Both layers and all that is between them stay on the device; of each sample only its input and target travel.
static void forward(int from, int to, const float *in, const float *weights, float *out)
{
#pragma omp target teams distribute parallel for
    for (int j = 0; j < to; j++) {
        float sum = 0;
        for (int i = 0; i < from; i++)
            sum += in[i] * weights[i * to + j];
        out[j] = sum / (1 + fabsf(sum));
    }
}

static void error(int n, const float *target, const float *out, float *delta)
{
#pragma omp target teams distribute parallel for
    for (int j = 0; j < n; j++) {
        float slope = 1 - fabsf(out[j]);
        delta[j] = (target[j] - out[j]) * slope * slope;
    }
}

static void backward(int from, int to, const float *delta, const float *weights, const float *out, float *below)
{
#pragma omp target teams distribute parallel for
    for (int i = 0; i < from; i++) {
        float sum = 0;
        for (int j = 0; j < to; j++)
            sum += delta[j] * weights[i * to + j];
        float slope = 1 - fabsf(out[i]);
        below[i] = sum * slope * slope;
    }
}

static void adjust(int from, int to, float rate, const float *in, const float *delta, float *weights)
{
#pragma omp target teams distribute parallel for collapse(2)
    for (int i = 0; i < from; i++)
        for (int j = 0; j < to; j++)
            weights[i * to + j] += rate * in[i] * delta[j];
}

void backprop(int samples, int inputs, int hidden, int outputs, float rate, const float *restrict data,
              const float *restrict targets, float *restrict into, float *restrict out_of)
{
    float *in = malloc(inputs * sizeof *in);
    float *middle = malloc(hidden * sizeof *middle);
    float *out = malloc(outputs * sizeof *out);
    float *target = malloc(outputs * sizeof *target);
    float *delta_out = malloc(outputs * sizeof *delta_out);
    float *delta_middle = malloc(hidden * sizeof *delta_middle);
#pragma omp target data map(tofrom: into[0:inputs * hidden], out_of[0:hidden * outputs]) \
    map(alloc: in[0:inputs], middle[0:hidden], out[0:outputs], target[0:outputs]) \
    map(alloc: delta_out[0:outputs], delta_middle[0:hidden])
    for (int s = 0; s < samples; s++) {
        memcpy(in, data + (size_t)s * inputs, inputs * sizeof *in);
        memcpy(target, targets + (size_t)s * outputs, outputs * sizeof *target);
#pragma omp target update to(in[0:inputs], target[0:outputs])
        forward(inputs, hidden, in, into, middle);
        forward(hidden, outputs, middle, out_of, out);
        error(outputs, target, out, delta_out);
        backward(hidden, outputs, delta_out, out_of, middle, delta_middle);
        adjust(hidden, outputs, rate, middle, delta_out, out_of);
        adjust(inputs, hidden, rate, in, delta_middle, into);
    }
    free(in);
    free(middle);
    free(out);
    free(target);
    free(delta_out);
    free(delta_middle);
}
