#include "floyd_warshall.h"

// Row k and column k do not change in step k: the way from k to k is 0, so that nothing gets shorter there.
void floyd_warshall(int n, int *distance)
{
#pragma omp target map(tofrom: distance[0:n * n])
    for (int k = 0; k < n; k++) {
#pragma omp parallel for
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) {
                int through = distance[i * n + k] + distance[k * n + j];
                if (through < distance[i * n + j])
                    distance[i * n + j] = through;
            }
    }
}
