#ifndef CONVOLUTION_H
#define CONVOLUTION_H

// Each pixel of out [rows][columns] is the sum of image's pixels around it by the weights of mask [WINDOW][WINDOW]; what lies beyond the
// border counts nothing.
enum { RADIUS = 4, WINDOW = 2 * RADIUS + 1 };

void convolution(int rows, int columns, const float *image, const float *mask, float *out);

#endif
