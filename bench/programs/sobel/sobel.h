#ifndef SOBEL_H
#define SOBEL_H

// The edges of a grey image [rows][columns] by Sobel's operator, |gx| + |gy|; pixels beyond the border repeat it.
// Strengths above the threshold are clipped to it, and edges holds them scaled to 0..255. `strength` is scratch.
void sobel(int rows, int columns, int threshold, const int *image, int *strength, int *edges);

#endif
