#include "gemm.h"

void gemm(int n, float alpha, float beta, const float *a, const float *b, float *c)
{
#pragma omp target map(to: a[0:n * n], b[0:n * n]) map(tofrom: c[0:n * n])
#pragma omp parallel for
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            float sum = beta * c[i * n + j];
            for (int k = 0; k < n; k++)
                sum += alpha * a[i * n + k] * b[k * n + j];
            c[i * n + j] = sum;
        }
}
