#ifndef FLOYD_WARSHALL_H
#define FLOYD_WARSHALL_H

// The length of the shortest path between each two of n nodes, in place: distance[i * n + j] is the length of the edge
// from i to j before (NO_PATH if there is none, 0 for i == j, never negative) and of the shortest path after.
#define NO_PATH (1 << 29) // two of them still fit an int

void floyd_warshall(int n, int *distance);

#endif
