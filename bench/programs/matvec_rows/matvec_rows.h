#ifndef MATVEC_ROWS_H
#define MATVEC_ROWS_H

// y = A x for a row-major A [rows][columns].
void matvec_rows(int rows, int columns, const float *a, const float *x, float *y);

#endif
