#include "transpose.h"

void transpose(int rows, int columns, const float *in, float *out)
{
#pragma omp target map(to: in[0:rows * columns]) map(from: out[0:rows * columns])
#pragma omp parallel for
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++)
            out[j * rows + i] = in[i * columns + j];
}
