#ifndef CHANNEL_H
#define CHANNEL_H

// What flows through a row-major n x n channel: in each of `steps` steps the inflow inflow[t * n .. t * n + n - 1] is row 0, and every
// other cell moves towards its neighbours'. `cells` is replaced.
void channel(int n, int steps, const float *restrict inflow, float *restrict cells);

#endif
