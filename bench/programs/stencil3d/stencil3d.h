#ifndef STENCIL3D_H
#define STENCIL3D_H

// Heat in an n x n x n grid after `steps` steps of a seven-point stencil; cells on the faces stay as they are. `next`
// is scratch of the same size.
void stencil3d(int n, int steps, float *grid, float *next);

#endif
