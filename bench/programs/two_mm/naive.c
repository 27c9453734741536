#include "two_mm.h"

void two_mm(int n, float alpha, float beta, const float *a, const float *b, const float *c, float *tmp, float *d)
{
#pragma omp target map(to: a[0:n * n], b[0:n * n], c[0:n * n]) map(alloc: tmp[0:n * n]) map(tofrom: d[0:n * n])
    {
#pragma omp parallel for
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) {
                float sum = 0;
                for (int k = 0; k < n; k++)
                    sum += alpha * a[i * n + k] * b[k * n + j];
                tmp[i * n + j] = sum;
            }

#pragma omp parallel for
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) {
                float sum = beta * d[i * n + j];
                for (int k = 0; k < n; k++)
                    sum += tmp[i * n + k] * c[k * n + j];
                d[i * n + j] = sum;
            }
    }
}
