#include "backprop.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void forward(int from, int to, const float *in, const float *weights, float *out)
{
#pragma omp target teams distribute parallel for map(tofrom: in[0:from], weights[0:from * to], out[0:to])
    for (int j = 0; j < to; j++) {
        float sum = 0;
        for (int i = 0; i < from; i++)
            sum += in[i] * weights[i * to + j];
        out[j] = sum / (1 + fabsf(sum));
    }
}

static void error(int n, const float *target, const float *out, float *delta)
{
#pragma omp target teams distribute parallel for map(tofrom: target[0:n], out[0:n], delta[0:n])
    for (int j = 0; j < n; j++) {
        float slope = 1 - fabsf(out[j]);
        delta[j] = (target[j] - out[j]) * slope * slope;
    }
}

static void backward(int from, int to, const float *delta, const float *weights, const float *out, float *below)
{
#pragma omp target teams distribute parallel for \
    map(tofrom: delta[0:to], weights[0:from * to], out[0:from], below[0:from])
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
#pragma omp target teams distribute parallel for collapse(2) \
    map(tofrom: in[0:from], delta[0:to], weights[0:from * to])
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
    for (int s = 0; s < samples; s++) {
        memcpy(in, data + (size_t)s * inputs, inputs * sizeof *in);
        memcpy(target, targets + (size_t)s * outputs, outputs * sizeof *target);
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
