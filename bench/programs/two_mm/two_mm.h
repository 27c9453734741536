#ifndef TWO_MM_H
#define TWO_MM_H

// d = alpha a b c + beta d for row-major square matrices of n rows; tmp is room for one more such matrix.
void two_mm(int n, float alpha, float beta, const float *a, const float *b, const float *c, float *tmp, float *d);

#endif
