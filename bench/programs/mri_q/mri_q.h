#ifndef MRI_Q_H
#define MRI_Q_H

// For each of n voxels the sum of `samples` waves (Parboil's MRI-Q): by the strength real^2 + imaginary^2 of a sample at (kx, ky, kz),
// the cosine and the sine of 2 pi (kx x + ky y + kz z). `strength` is scratch of one number a sample.
#define TWO_PI 6.2831853f

struct samples {
    int count;
    const float *kx, *ky, *kz, *real, *imaginary;
};

void mri_q(int n, const struct samples *samples, const float *x, const float *y, const float *z, float *strength, float *qr,
           float *qi);

#endif
