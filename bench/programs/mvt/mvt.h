#ifndef MVT_H
#define MVT_H

// x1 = x1 + A y1 and x2 = x2 + A^T y2 for a row-major square A of n rows.
void mvt(int n, const float *a, const float *y1, const float *y2, float *x1, float *x2);

#endif
