#ifndef CHAIN_H
#define CHAIN_H

// Sharpens a signal of n >= 3 samples where it is smooth and leaves it where it is steep:
//   smooth = signal averaged with both neighbours; detail = gain (signal - smooth);
//   slope = central difference of detail; result = smooth + detail / (1 + (slope / limit)^2).
// The host sees to the ends, and finds `gain` and `limit` from a few samples of what was computed before. Only result
// counts: the other three are work arrays of n elements, with any contents before and after.
void chain(int n, const float *signal, float *smooth, float *detail, float *slope, float *result);

// The samples that the host looks at.
enum { PROBES = 3 };
static inline int probe(int p, int n) { return (int)((p + 1LL) * n / (PROBES + 1)); }

#endif
