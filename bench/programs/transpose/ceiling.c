#include "transpose.h"
#include "program.h"

// A team for each square tile: its threads read the tile's rows, keep them in the team's memory and write its columns,
// so that reads and writes are both coalesced.
enum { TILE = 32 };

void transpose(int rows, int columns, const float *in, float *out)
{
    int threads = tunable("threads", 64);
    int tile_rows = (rows + TILE - 1) / TILE;
    int tile_columns = (columns + TILE - 1) / TILE;
#pragma omp target teams distribute collapse(2) num_teams(tile_rows * tile_columns) thread_limit(threads) \
    map(to: in[0:rows * columns]) map(from: out[0:rows * columns])
    for (int ti = 0; ti < tile_rows; ti++)
        for (int tj = 0; tj < tile_columns; tj++) {
            float tile[TILE * (TILE + 1)]; // one more column: no bank conflicts
            int top = ti * TILE, left = tj * TILE;
#pragma omp parallel for
            for (int e = 0; e < TILE * TILE; e++) {
                int i = top + e / TILE, j = left + e % TILE;
                if (i < rows && j < columns)
                    tile[e / TILE * (TILE + 1) + e % TILE] = in[i * columns + j];
            }
#pragma omp parallel for
            for (int e = 0; e < TILE * TILE; e++) {
                int j = left + e / TILE, i = top + e % TILE;
                if (i < rows && j < columns)
                    out[j * rows + i] = tile[e % TILE * (TILE + 1) + e / TILE];
            }
        }
}
