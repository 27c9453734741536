#include "covar.h"

void covar(int points, int features, float *data, float *mean, float *covariance)
{
#pragma omp target map(tofrom: data[0:points * features]) \
    map(from: mean[0:features], covariance[0:features * features])
    {
#pragma omp parallel for
        for (int j = 0; j < features; j++) {
            mean[j] = 0;
            for (int i = 0; i < points; i++)
                mean[j] += data[i * features + j];
            mean[j] /= points;
        }

#pragma omp parallel for
        for (int i = 0; i < points; i++)
            for (int j = 0; j < features; j++)
                data[i * features + j] -= mean[j];

#pragma omp parallel for
        for (int j1 = 0; j1 < features; j1++)
            for (int j2 = j1; j2 < features; j2++) {
                float sum = 0;
                for (int i = 0; i < points; i++)
                    sum += data[i * features + j1] * data[i * features + j2];
                covariance[j1 * features + j2] = sum / (points - 1);
                covariance[j2 * features + j1] = covariance[j1 * features + j2];
            }
    }
}
