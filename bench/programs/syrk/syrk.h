#ifndef SYRK_H
#define SYRK_H

// c = alpha a a^T + beta c for row-major a [n][m] and c [n][n]; all of c is computed, not one triangle.
void syrk(int n, int m, float alpha, float beta, const float *a, float *c);

#endif
