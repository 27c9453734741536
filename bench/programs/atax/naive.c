#include "atax.h"

void atax(int rows, int columns, const float *a, const float *x, float *tmp, float *y)
{
#pragma omp target map(to: a[0:rows * columns], x[0:columns]) map(from: tmp[0:rows], y[0:columns])
    {
#pragma omp parallel for
        for (int i = 0; i < rows; i++) {
            tmp[i] = 0;
            for (int j = 0; j < columns; j++)
                tmp[i] += a[i * columns + j] * x[j];
        }

#pragma omp parallel for
        for (int j = 0; j < columns; j++) {
            y[j] = 0;
            for (int i = 0; i < rows; i++)
                y[j] += a[i * columns + j] * tmp[i];
        }
    }
}
