#ifndef LABEL_UNTIL_H
#define LABEL_UNTIL_H

// Connected cells (`open` not 0) of a row-major n x n grid get the smallest of their labels; gives back after how many rounds.
int label_until(int n, const int *restrict open, int *restrict labels);

#endif
