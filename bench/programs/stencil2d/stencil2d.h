#ifndef STENCIL2D_H
#define STENCIL2D_H

// Smooths a row-major n x n grid: in each step b becomes the five-point average of a, then a that of b. The edges of a
// and b are equal and stay as they are; the inside of b need not be set before. Both arrays are results.
void stencil2d(int n, int steps, float *a, float *b);

#endif
