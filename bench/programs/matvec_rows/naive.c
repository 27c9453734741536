#include "matvec_rows.h"

void matvec_rows(int rows, int columns, const float *a, const float *x, float *y)
{
#pragma omp target map(to: a[0:rows * columns], x[0:columns]) map(from: y[0:rows])
#pragma omp parallel for
    for (int i = 0; i < rows; i++) {
        float sum = 0;
        for (int j = 0; j < columns; j++)
            sum += a[i * columns + j] * x[j];
        y[i] = sum;
    }
}
