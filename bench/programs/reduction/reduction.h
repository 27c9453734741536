#ifndef REDUCTION_H
#define REDUCTION_H

// The sum of the n elements of x, and the largest of their absolute values.
void reduction(int n, const float *x, double *sum, float *largest);

#endif
