#ifndef MATRIX_SUMS_H
#define MATRIX_SUMS_H

// out[i][j] += the sum of row j of all k matrices, for each i. m holds the k row-major matrices of n rows and columns
// one after the other; out is one such matrix. Each (i, j) reads the rows anew: O(n^3 k) uncoalesced reads.
void matrix_sums(int n, int k, const float *m, float *out);

#endif
