#include "matvec_rows.h"
#include "program.h"

// A team for each row, whose threads read neighbouring elements of it and reduce the sum.
void matvec_rows(int rows, int columns, const float *a, const float *x, float *y)
{
    int threads = tunable("threads", 128);
#pragma omp target teams distribute num_teams(rows) thread_limit(threads) \
    map(to: a[0:rows * columns], x[0:columns]) map(from: y[0:rows])
    for (int i = 0; i < rows; i++) {
        float sum = 0;
#pragma omp parallel for reduction(+ : sum)
        for (int j = 0; j < columns; j++)
            sum += a[i * columns + j] * x[j];
        y[i] = sum;
    }
}
