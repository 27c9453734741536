#include "lud.h"

void lud(int n, float *a)
{
#pragma omp target map(tofrom: a[0:n * n])
    {
        for (int k = 0; k < n - 1; k++) {
#pragma omp parallel for
            for (int i = k + 1; i < n; i++)
                a[i * n + k] /= a[k * n + k];

#pragma omp parallel for
            for (int i = k + 1; i < n; i++)
                for (int j = k + 1; j < n; j++)
                    a[i * n + j] -= a[i * n + k] * a[k * n + j];
        }
    }
}
