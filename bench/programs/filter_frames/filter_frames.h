#ifndef FILTER_FRAMES_H
#define FILTER_FRAMES_H

// Blurs each frame of a film by rows and columns with weights[0 .. 2 * radius]. A frame has height x width bytes in `film`, and as many
// numbers in `blurred`. Beyond the edges the nearest pixel counts.
void filter_frames(int frames, int height, int width, int radius, const float *restrict weights,
                   const unsigned char *restrict film, float *restrict blurred);

#endif
