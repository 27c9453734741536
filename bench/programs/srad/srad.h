#ifndef SRAD_H
#define SRAD_H

// Removes speckle from an image [rows][columns] of positive pixels by `iterations` steps of anisotropic diffusion. In
// each, a pixel's coefficient follows from its differences to its four neighbours (none beyond the border) and from the
// image's mean and variance; the coefficients then weight the differences, and lambda says how much of them is added.
// All arrays but the image are scratch of the same size.
void srad(int rows, int columns, int iterations, float lambda, float *image, float *coefficient, float *north,
          float *south, float *west, float *east);

#endif
