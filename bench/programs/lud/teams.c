// The papers' shape. Each loop reads what other teams wrote in the loop before, without a barrier between them, and the
// teams go through the columns on their own: a race by the specification.
#include "lud.h"

void lud(int n, float *a)
{
#pragma omp target teams map(tofrom: a[0:n * n])
    {
        for (int k = 0; k < n - 1; k++) {
#pragma omp distribute parallel for
            for (int i = k + 1; i < n; i++)
                a[i * n + k] /= a[k * n + k];

#pragma omp distribute parallel for
            for (int i = k + 1; i < n; i++)
                for (int j = k + 1; j < n; j++)
                    a[i * n + j] -= a[i * n + k] * a[k * n + j];
        }
    }
}
