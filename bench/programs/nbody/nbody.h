#ifndef NBODY_H
#define NBODY_H

// One step of n bodies under gravity, softened so that close bodies do not shoot each other away:
// a_i = sum over j of mass_j (r_j - r_i) / (|r_j - r_i|^2 + SOFTENING)^(3/2); then v += dt a, then r += dt v.
#define SOFTENING 1e-3f

void nbody(int n, float dt, const float *mass, float *x, float *y, float *z, float *vx, float *vy, float *vz, float *ax,
           float *ay, float *az);

#endif
