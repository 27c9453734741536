#ifndef LUD_H
#define LUD_H

// Replaces a row-major n x n matrix by its factors, a = L U without pivoting: U in the upper triangle with the
// diagonal, L below it; L's diagonal is 1.
void lud(int n, float *a);

#endif
