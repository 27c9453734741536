// The papers' shape. The two loops share only inputs, so that no barrier between the teams is missed.
#include "bicg.h"

void bicg(int rows, int columns, const float *a, const float *p, const float *r, float *q, float *s)
{
#pragma omp target teams map(to: a[0:rows * columns], p[0:columns], r[0:rows]) map(from: q[0:rows], s[0:columns])
    {
#pragma omp distribute parallel for
        for (int j = 0; j < columns; j++) {
            s[j] = 0;
            for (int i = 0; i < rows; i++)
                s[j] += r[i] * a[i * columns + j];
        }

#pragma omp distribute parallel for
        for (int i = 0; i < rows; i++) {
            q[i] = 0;
            for (int j = 0; j < columns; j++)
                q[i] += a[i * columns + j] * p[j];
        }
    }
}
