#ifndef FAST_WALSH_H
#define FAST_WALSH_H

// The Walsh-Hadamard transform of n = 2^k values in place, in k steps of n / 2 pairs.
void fast_walsh(int n, float *values);

#endif
