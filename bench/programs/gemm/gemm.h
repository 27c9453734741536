#ifndef GEMM_H
#define GEMM_H

// c = alpha a b + beta c for row-major square matrices of n rows.
void gemm(int n, float alpha, float beta, const float *a, const float *b, float *c);

#endif
