#include "gram_schmidt.h"

#include <math.h>

void gram_schmidt(int rows, int columns, float *restrict q, float *restrict r)
{
    for (int k = 0; k < columns; k++) {
        float square = 0;
#pragma omp target teams distribute parallel for map(tofrom: q[0:columns * rows]) map(tofrom: square) reduction(+: square)
        for (int i = 0; i < rows; i++)
            square += q[k * rows + i] * q[k * rows + i];
        float norm = sqrtf(square);
        r[k * columns + k] = norm;
#pragma omp target teams distribute parallel for map(tofrom: q[0:columns * rows])
        for (int i = 0; i < rows; i++)
            q[k * rows + i] /= norm;
        for (int j = k + 1; j < columns; j++) {
            float part = 0;
#pragma omp target teams distribute parallel for map(tofrom: q[0:columns * rows]) map(tofrom: part) reduction(+: part)
            for (int i = 0; i < rows; i++)
                part += q[k * rows + i] * q[j * rows + i];
            r[k * columns + j] = part;
#pragma omp target teams distribute parallel for map(tofrom: q[0:columns * rows])
            for (int i = 0; i < rows; i++)
                q[j * rows + i] -= part * q[k * rows + i];
        }
    }
}
