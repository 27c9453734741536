#ifndef BACKPROP_H
#define BACKPROP_H

// Trains a network of one hidden layer on `samples` inputs [samples][inputs] with targets [samples][outputs], one after the other.
// into[inputs][hidden] and out_of[hidden][outputs] are replaced.
void backprop(int samples, int inputs, int hidden, int outputs, float rate, const float *restrict data,
              const float *restrict targets, float *restrict into, float *restrict out_of);

#endif
