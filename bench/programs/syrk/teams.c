// The papers' shape. The second loop updates rows of c that the first scaled, without a barrier between the teams: a
// race by the specification, which runs right where both loops deal their rows to the same threads.
#include "syrk.h"

void syrk(int n, int m, float alpha, float beta, const float *a, float *c)
{
#pragma omp target teams map(to: a[0:n * m]) map(tofrom: c[0:n * n])
    {
#pragma omp distribute parallel for
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                c[i * n + j] *= beta;

#pragma omp distribute parallel for
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                for (int k = 0; k < m; k++)
                    c[i * n + j] += alpha * a[i * m + k] * a[j * m + k];
    }
}
