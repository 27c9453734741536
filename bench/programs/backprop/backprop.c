// Forward and backward passes through two layers, by functions that each map what they use (ours).
#include "program.h"
#include "backprop.h"

#include <math.h>

static const float rate = 0.01f;
static int samples, inputs, hidden, outputs;
static float *data, *targets, *into, *out_of, *into_before, *out_of_before;
static double *expected_into, *expected_out_of, *middle, *out, *delta_out, *delta_middle;

static void allocate(const long *sizes)
{
    samples = (int)sizes[0];
    inputs = (int)sizes[1];
    hidden = (int)sizes[2];
    outputs = (int)sizes[3];
    data = new_floats((size_t)samples * inputs);
    targets = new_floats((size_t)samples * outputs);
    into = new_floats((size_t)inputs * hidden);
    into_before = new_floats((size_t)inputs * hidden);
    expected_into = new_doubles((size_t)inputs * hidden);
    out_of = new_floats((size_t)hidden * outputs);
    out_of_before = new_floats((size_t)hidden * outputs);
    expected_out_of = new_doubles((size_t)hidden * outputs);
    middle = new_doubles(hidden);
    delta_middle = new_doubles(hidden);
    out = new_doubles(outputs);
    delta_out = new_doubles(outputs);
}

static void prepare(void)
{
    fill_floats(data, (size_t)samples * inputs, -1.0f, 1.0f);
    fill_floats(targets, (size_t)samples * outputs, -1.0f, 1.0f);
    fill_floats(into_before, (size_t)inputs * hidden, -0.1f, 0.1f);
    fill_floats(out_of_before, (size_t)hidden * outputs, -0.1f, 0.1f);
    for (size_t i = 0; i < (size_t)inputs * hidden; i++)
        into[i] = into_before[i];
    for (size_t i = 0; i < (size_t)hidden * outputs; i++)
        out_of[i] = out_of_before[i];
}

static void run(void) { backprop(samples, inputs, hidden, outputs, rate, data, targets, into, out_of); }

static double slope(double value) { return (1 - fabs(value)) * (1 - fabs(value)); }

static void check(void)
{
    double *a = expected_into, *b = expected_out_of;
    for (size_t i = 0; i < (size_t)inputs * hidden; i++)
        a[i] = into_before[i];
    for (size_t i = 0; i < (size_t)hidden * outputs; i++)
        b[i] = out_of_before[i];
    for (int s = 0; s < samples; s++) {
        const float *in = data + (size_t)s * inputs, *target = targets + (size_t)s * outputs;
#pragma omp parallel for
        for (int j = 0; j < hidden; j++) {
            double sum = 0;
            for (int i = 0; i < inputs; i++)
                sum += in[i] * a[(size_t)i * hidden + j];
            middle[j] = sum / (1 + fabs(sum));
        }
#pragma omp parallel for
        for (int j = 0; j < outputs; j++) {
            double sum = 0;
            for (int i = 0; i < hidden; i++)
                sum += middle[i] * b[(size_t)i * outputs + j];
            out[j] = sum / (1 + fabs(sum));
            delta_out[j] = (target[j] - out[j]) * slope(out[j]);
        }
#pragma omp parallel for
        for (int i = 0; i < hidden; i++) {
            double sum = 0;
            for (int j = 0; j < outputs; j++)
                sum += delta_out[j] * b[(size_t)i * outputs + j];
            delta_middle[i] = sum * slope(middle[i]);
        }
#pragma omp parallel for
        for (int i = 0; i < hidden; i++)
            for (int j = 0; j < outputs; j++)
                b[(size_t)i * outputs + j] += rate * middle[i] * delta_out[j];
#pragma omp parallel for
        for (int i = 0; i < inputs; i++)
            for (int j = 0; j < hidden; j++)
                a[(size_t)i * hidden + j] += rate * in[i] * delta_middle[j];
    }
    check_floats("into", into, expected_into, (size_t)inputs * hidden, 1e-4);
    check_floats("out_of", out_of, expected_out_of, (size_t)hidden * outputs, 1e-4);
}

static struct work work(void)
{
    double weights = (double)inputs * hidden + (double)hidden * outputs;
    return (struct work){
        .bytes_in = 4 * weights + 4.0 * samples * (inputs + outputs),
        .bytes_out = 4 * weights,
        .device_bytes = 4 * 3 * weights * samples,
        .operations = 6 * weights * samples,
    };
}

const struct program program = {
    "backprop", "samples inputs hidden outputs", allocate, prepare, run, check, work,
};
