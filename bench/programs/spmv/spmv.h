#ifndef SPMV_H
#define SPMV_H

// y = A x for a sparse A in compressed rows: the elements of row i are value[start[i]] to value[start[i + 1] - 1], in
// the columns that `column` gives in the same places.
void spmv(int rows, int columns, const int *start, const int *column, const float *value, const float *x, float *y);

#endif
