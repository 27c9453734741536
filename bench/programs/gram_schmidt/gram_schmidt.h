#ifndef GRAM_SCHMIDT_H
#define GRAM_SCHMIDT_H

// Modified Gram-Schmidt: the columns q[k * rows + i] of a matrix become orthonormal, r[k * columns + j] (j >= k) is what they were made of.
void gram_schmidt(int rows, int columns, float *restrict q, float *restrict r);

#endif
