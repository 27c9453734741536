#ifndef GESUMMV_H
#define GESUMMV_H

// y = alpha A x + beta B x for row-major square matrices of n rows; tmp is room for n floats.
void gesummv(int n, float alpha, float beta, const float *a, const float *b, const float *x, float *tmp, float *y);

#endif
