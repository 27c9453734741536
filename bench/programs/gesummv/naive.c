#include "gesummv.h"

void gesummv(int n, float alpha, float beta, const float *a, const float *b, const float *x, float *tmp, float *y)
{
#pragma omp target map(to: a[0:n * n], b[0:n * n], x[0:n]) map(alloc: tmp[0:n]) map(from: y[0:n])
#pragma omp parallel for
    for (int i = 0; i < n; i++) {
        tmp[i] = 0;
        y[i] = 0;
        for (int j = 0; j < n; j++) {
            tmp[i] += a[i * n + j] * x[j];
            y[i] += b[i * n + j] * x[j];
        }
        y[i] = alpha * tmp[i] + beta * y[i];
    }
}
