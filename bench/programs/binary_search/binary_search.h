#ifndef BINARY_SEARCH_H
#define BINARY_SEARCH_H

// The place of `key` in n numbers that ascend, or -1: in rounds, each of which cuts what is left into `parts` and finds the part that
// may hold the key. Gives it in *place.
void binary_search(int n, int parts, const int *sorted, int key, int *place);

#endif
