#ifndef THREE_MM_H
#define THREE_MM_H

// e = a b, f = c d and g = e f for row-major square matrices of n rows.
void three_mm(int n, const float *a, const float *b, const float *c, const float *d, float *e, float *f, float *g);

#endif
