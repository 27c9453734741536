#ifndef FDTD2D_H
#define FDTD2D_H

// An electromagnetic field on a row-major n x n grid after `steps` time steps. In step t row 0 of ey becomes source[t],
// the rest of ey and ex follow from hz, then hz from both; ex, ey and hz are replaced.
void fdtd2d(int n, int steps, const float *source, float *ex, float *ey, float *hz);

#endif
