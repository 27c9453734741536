#ifndef AXPY_H
#define AXPY_H

// y = a x + y for vectors of n elements.
void axpy(int n, float a, const float *x, float *y);

#endif
