#ifndef TIME_LOOP_H
#define TIME_LOOP_H

// Damped waves on a row-major n x n basin after `steps` steps. In each, the slope of the water changes the velocities
// and these the heights; the water at row 0 is set to wall[t], the other edges stay. Height and velocity are replaced.
void time_loop(int n, int steps, float damping, const float *wall, float *height, float *velocity);

#endif
