#ifndef COVAR_H
#define COVAR_H

// The covariance matrix [features][features] of row-major data [points][features], of at least two points. `mean` gets
// the mean of each feature, which is subtracted from the data in place.
void covar(int points, int features, float *data, float *mean, float *covariance);

#endif
