#include "program.h"
#include "transpose.h"

// A row a thread: the writes of neighbouring threads are coalesced, the reads are not. Blocks of two threads were the best
// of all sizes tried.
void transpose(int rows, int columns, const float *in, float *out)
{
    int threads = tunable("threads", 2);
    int teams = (rows - 1) / threads + 1;
#pragma omp target teams distribute parallel for num_teams(teams) thread_limit(threads) \
    map(to: in[0:rows * columns]) map(from: out[0:rows * columns])
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++)
            out[j * rows + i] = in[i * columns + j];
}
