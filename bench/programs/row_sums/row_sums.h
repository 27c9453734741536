#ifndef ROW_SUMS_H
#define ROW_SUMS_H

// sums[i] = the sum of row i of a row-major a [rows][columns].
void row_sums(int rows, int columns, const float *a, float *sums);

#endif
