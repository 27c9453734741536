#include "row_sums.h"

void row_sums(int rows, int columns, const float *a, float *sums)
{
#pragma omp target map(to: a[0:rows * columns]) map(from: sums[0:rows])
#pragma omp parallel for
    for (int i = 0; i < rows; i++) {
        float sum = 0;
        for (int j = 0; j < columns; j++)
            sum += a[i * columns + j];
        sums[i] = sum;
    }
}
