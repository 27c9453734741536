#ifndef ATAX_H
#define ATAX_H

// y = A^T (A x) for a row-major A [rows][columns]; tmp holds A x.
void atax(int rows, int columns, const float *a, const float *x, float *tmp, float *y);

#endif
