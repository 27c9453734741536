#ifndef SETTLE_H
#define SETTLE_H

// A rod of `cells` cells: its first one is heated to `t` in step t, the others take the mean of their neighbours, in `next` by turns.
// Ends when the cell in the middle is warmer than `goal`, after `most` steps at the latest. Gives back how many steps there were.
int settle(int cells, int most, float goal, float *rod, float *next);

#endif
