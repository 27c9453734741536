#ifndef TRANSPOSE_H
#define TRANSPOSE_H

// out = in^T for a row-major in [rows][columns]; out is row-major [columns][rows].
void transpose(int rows, int columns, const float *in, float *out);

#endif
