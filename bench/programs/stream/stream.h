#ifndef STREAM_H
#define STREAM_H

// out[i] = in[i] after v = 0.5 - 0.999 v has been applied `operations` times.
void stream(int n, int operations, const float *in, float *out);

#endif
