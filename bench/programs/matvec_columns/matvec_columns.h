#ifndef MATVEC_COLUMNS_H
#define MATVEC_COLUMNS_H

// y = A x for a column-major A: element (i, j) of the rows x columns matrix is a[j * rows + i].
void matvec_columns(int rows, int columns, const float *a, const float *x, float *y);

#endif
