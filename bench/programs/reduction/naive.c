#include "reduction.h"

#include <math.h>

void reduction(int n, const float *x, double *sum, float *largest)
{
    double total = 0;
    float most = 0;
#pragma omp target map(to: x[0:n]) map(tofrom: total, most)
    {
#pragma omp parallel for reduction(+ : total)
        for (int i = 0; i < n; i++)
            total += x[i];

#pragma omp parallel for reduction(max : most)
        for (int i = 0; i < n; i++) {
            float size = fabsf(x[i]);
            if (size > most)
                most = size;
        }
    }
    *sum = total;
    *largest = most;
}
