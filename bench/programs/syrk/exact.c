#include "program.h"
#include "syrk.h"

// One kernel for both loops. A team makes 32 x 32 elements: it loads a part of the rows that they need into its memory, of which each thread then
// adds up two elements in registers, so that one of those that it loads from there serves twice. Rows of the tile are one element longer than a part,
// so that neighbouring threads reach different banks. Each element keeps its sum and the order of it.
enum { HEIGHT = 32, WIDTH = 32, PART = 64, ROWS = 2 };

void syrk(int n, int m, float alpha, float beta, const float *a, float *c)
{
    int threads = tunable("threads", 512);
#pragma omp target teams distribute collapse(2) map(to: a[0:n * m]) map(tofrom: c[0:n * n]) thread_limit(threads)
    for (int top = 0; top < n; top += HEIGHT)
        for (int left = 0; left < n; left += WIDTH) {
            float upper[HEIGHT][PART + 1], lower[WIDTH][PART + 1], sums[HEIGHT][WIDTH];
#pragma omp parallel for collapse(2)
            for (int y = 0; y < HEIGHT; y++)
                for (int x = 0; x < WIDTH; x++) {
                    float sum = top + y < n && left + x < n ? c[(top + y) * n + left + x] : 0;
                    sum *= beta;
                    sums[y][x] = sum;
                }
            for (int first = 0; first < m; first += PART) {
                int length = m - first < PART ? m - first : PART;
#pragma omp parallel for collapse(2)
                for (int y = 0; y < HEIGHT; y++)
                    for (int k = 0; k < PART; k++)
                        if (k < length)
                            upper[y][k] = a[(top + y < n ? top + y : n - 1) * m + first + k];
#pragma omp parallel for collapse(2)
                for (int x = 0; x < WIDTH; x++)
                    for (int k = 0; k < PART; k++)
                        if (k < length)
                            lower[x][k] = a[(left + x < n ? left + x : n - 1) * m + first + k];
#pragma omp parallel for collapse(2)
                for (int y = 0; y < HEIGHT; y += ROWS)
                    for (int x = 0; x < WIDTH; x++) {
                        float sum[ROWS];
                        for (int r = 0; r < ROWS; r++)
                            sum[r] = sums[y + r][x];
                        for (int k = 0; k < length; k++)
                            for (int r = 0; r < ROWS; r++)
                                sum[r] += alpha * upper[y + r][k] * lower[x][k];
                        for (int r = 0; r < ROWS; r++)
                            sums[y + r][x] = sum[r];
                    }
            }
#pragma omp parallel for collapse(2)
            for (int y = 0; y < HEIGHT; y++)
                for (int x = 0; x < WIDTH; x++)
                    if (top + y < n && left + x < n)
                        c[(top + y) * n + left + x] = sums[y][x];
        }
}
