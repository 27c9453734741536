#include "floyd_warshall.h"
#include "program.h"

#include <stdlib.h>

// `block` steps at a time, because a launch costs more than a step. One team finds the shortest ways among the block's
// nodes alone; then come those from the block to everywhere, beside a copy of the old ways to it; then each way either
// stays or goes through the block once. The last loop, nearly all of the work, reads only the two copies, coalesced,
// and each of its threads serves COARSE rows with what it has loaded.
enum { COARSE = 4 };

void floyd_warshall(int n, int *distance)
{
    int block = tunable("block", 32);
    int block_threads = tunable("block_threads", 1024);
    int threads = tunable("threads", 128);
    int row_groups = (n + COARSE - 1) / COARSE;
    int panel_teams = (block * n + threads - 1) / threads;
    int teams = (row_groups * n + threads - 1) / threads;
    int *among = malloc((size_t)block * block * sizeof *among); // of these only the copies on the device are used
    int *from = malloc((size_t)block * n * sizeof *from);
    int *to = malloc((size_t)block * n * sizeof *to);
#pragma omp target data map(tofrom: distance[0:n * n]) map(alloc: among[0:block * block], from[0:block * n]) \
    map(alloc: to[0:block * n])
    for (int first = 0; first < n; first += block) {
        int nodes = n - first < block ? n - first : block;

        // No element of row k or column k changes in step k, as the way from k to k is 0.
#pragma omp target teams num_teams(1) thread_limit(block_threads)
#pragma omp parallel
        {
#pragma omp for collapse(2)
            for (int i = 0; i < nodes; i++)
                for (int j = 0; j < nodes; j++)
                    among[i * block + j] = distance[(first + i) * n + first + j];
            for (int k = 0; k < nodes; k++) {
#pragma omp for collapse(2)
                for (int i = 0; i < nodes; i++)
                    for (int j = 0; j < nodes; j++) {
                        int through = among[i * block + k] + among[k * block + j];
                        if (through < among[i * block + j])
                            among[i * block + j] = through;
                    }
            }
        }

#pragma omp target teams distribute parallel for collapse(2) num_teams(panel_teams) thread_limit(threads)
        for (int b = 0; b < nodes; b++)
            for (int j = 0; j < n; j++) {
                int best = NO_PATH;
                for (int k = 0; k < nodes; k++) {
                    int through = among[b * block + k] + distance[(first + k) * n + j];
                    best = through < best ? through : best;
                }
                from[b * n + j] = best;
                to[b * n + j] = distance[j * n + first + b];
            }

#pragma omp target teams distribute parallel for collapse(2) num_teams(teams) thread_limit(threads)
        for (int group = 0; group < row_groups; group++)
            for (int j = 0; j < n; j++) {
                int row = group * COARSE;
                int best[COARSE];
                if (row + COARSE <= n) {
                    for (int r = 0; r < COARSE; r++)
                        best[r] = distance[(row + r) * n + j];
                    for (int k = 0; k < nodes; k++) {
                        int on = from[k * n + j];
                        for (int r = 0; r < COARSE; r++) {
                            int through = to[k * n + row + r] + on;
                            best[r] = through < best[r] ? through : best[r];
                        }
                    }
                    for (int r = 0; r < COARSE; r++)
                        distance[(row + r) * n + j] = best[r];
                } else {
                    for (int i = row; i < n; i++)
                        for (int k = 0; k < nodes; k++) {
                            int through = to[k * n + i] + from[k * n + j];
                            if (through < distance[i * n + j])
                                distance[i * n + j] = through;
                        }
                }
            }
    }
    free(among);
    free(from);
    free(to);
}
