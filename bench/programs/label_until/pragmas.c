#include "label_until.h"

// Only the flag travels.
int label_until(int n, const int *restrict open, int *restrict labels)
{
    int changed[1];
    int rounds = 0;
#pragma omp target data map(to: open[0:n * n]) map(tofrom: labels[0:n * n])
    do {
        changed[0] = 0;
#pragma omp target teams distribute parallel for map(tofrom: changed)
        for (int i = 0; i < n; i++)
            for (int j = 1; j < 2 * n - 1; j++) {
                // Forth and back along the row.
                int c = i * n + (j < n ? j : 2 * n - 2 - j);
                int from = j < n ? c - 1 : c + 1;
                if (open[c] && open[from] && labels[from] < labels[c]) {
                    labels[c] = labels[from];
#pragma omp atomic write
                    changed[0] = 1;
                }
            }
#pragma omp target teams distribute parallel for map(tofrom: changed)
        for (int j = 0; j < n; j++)
            for (int i = 1; i < 2 * n - 1; i++) {
                int row = i < n ? i : 2 * n - 2 - i;
                int c = row * n + j;
                int from = i < n ? c - n : c + n;
                if (open[c] && open[from] && labels[from] < labels[c]) {
                    labels[c] = labels[from];
#pragma omp atomic write
                    changed[0] = 1;
                }
            }
        rounds++;
    } while (changed[0]);
    return rounds;
}
