#include "axpy.h"

void axpy(int n, float a, const float *x, float *y)
{
#pragma omp target map(to: x[0:n]) map(tofrom: y[0:n])
#pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = a * x[i] + y[i];
}
