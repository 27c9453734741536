#include "spmv.h"

void spmv(int rows, int columns, const int *start, const int *column, const float *value, const float *x, float *y)
{
    int nonzeros = start[rows];
#pragma omp target map(to: start[0:rows + 1], column[0:nonzeros], value[0:nonzeros], x[0:columns]) map(from: y[0:rows])
#pragma omp parallel for
    for (int i = 0; i < rows; i++) {
        float sum = 0;
        for (int k = start[i]; k < start[i + 1]; k++)
            sum += value[k] * x[column[k]];
        y[i] = sum;
    }
}
