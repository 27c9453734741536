#ifndef PARTICLES_H
#define PARTICLES_H

// Particles in a box of side 1, as a structure of arrays.
struct particles {
    int count;
    float *x, *y, *z;
    float *vx, *vy, *vz;
    float *heat;
};

// Moves them for `steps` steps: they fall, are slowed by the air, which heats them, and bounce off the walls.
void particles(struct particles *all, int steps, float dt);

#endif
