#ifndef HEAT_UNTIL_H
#define HEAT_UNTIL_H

// Heat on a row-major n x n plate whose edges stay as they are: steps until none changes a cell by more than `tolerance`, `most` at most.
// The heat is replaced; gives back how many steps there were.
int heat_until(int n, int most, float tolerance, float *restrict heat);

#endif
