// The papers' shape. The second loop reads what other teams wrote in the first, without a barrier between them: a race
// by the specification, which runs right only while every team finishes its part of the first loop early enough.
#include "atax.h"

void atax(int rows, int columns, const float *a, const float *x, float *tmp, float *y)
{
#pragma omp target teams map(to: a[0:rows * columns], x[0:columns]) map(from: tmp[0:rows], y[0:columns])
    {
#pragma omp distribute parallel for
        for (int i = 0; i < rows; i++) {
            tmp[i] = 0;
            for (int j = 0; j < columns; j++)
                tmp[i] += a[i * columns + j] * x[j];
        }

#pragma omp distribute parallel for
        for (int j = 0; j < columns; j++) {
            y[j] = 0;
            for (int i = 0; i < rows; i++)
                y[j] += a[i * columns + j] * tmp[i];
        }
    }
}
