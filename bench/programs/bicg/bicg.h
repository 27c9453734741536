#ifndef BICG_H
#define BICG_H

// s = A^T r and q = A p for a row-major A [rows][columns].
void bicg(int rows, int columns, const float *a, const float *p, const float *r, float *q, float *s);

#endif
