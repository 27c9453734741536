#ifndef DWT_HAAR_H
#define DWT_HAAR_H

// Haar's wavelets of a signal of n = 2^k samples: each level leaves half as many averages and their details behind them. `work` is
// scratch of n samples.
#define HALF_ROOT 0.70710678f // of 2

void dwt_haar(int n, const float *signal, float *out, float *work);

#endif
