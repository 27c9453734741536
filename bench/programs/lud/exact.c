#include "lud.h"
#include "program.h"

// Blocked as in ceiling.c, so that there are three launches for each block of columns in place of two for each column. Each element
// stays in a register while a block's terms are taken from it, one after the other, in the order of `naive`.

// The factors of the block on the diagonal, rows and columns from `start` to before `end`, by one team.
static void factor_diagonal(int n, int start, int end, float *a)
{
    int threads = tunable("diagonal_threads", 1024);
#pragma omp target parallel num_threads(threads)
    {
        for (int k = start; k < end - 1; k++) {
#pragma omp for schedule(static, 1)
            for (int i = k + 1; i < end; i++)
                a[i * n + k] /= a[k * n + k];
#pragma omp for collapse(2) schedule(static, 1)
            for (int i = k + 1; i < end; i++)
                for (int j = k + 1; j < end; j++)
                    a[i * n + j] -= a[i * n + k] * a[k * n + j];
        }
    }
}

// U right of the block and L below it: each column and each row is on its own.
static void solve_panels(int n, int start, int end, float *a)
{
    int threads = tunable("panel_threads", 32);
    int rest = n - end;
    int teams = (2 * rest + threads - 1) / threads;
#pragma omp target teams distribute parallel for num_teams(teams) thread_limit(threads)
    for (int line = 0; line < 2 * rest; line++) {
        if (line < rest) {
            int j = end + line;
            for (int k = start + 1; k < end; k++) {
                float value = a[k * n + j];
                for (int m = start; m < k; m++)
                    value -= a[k * n + m] * a[m * n + j];
                a[k * n + j] = value;
            }
        } else {
            int i = end + line - rest;
            for (int k = start; k < end; k++) {
                float value = a[i * n + k];
                for (int m = start; m < k; m++)
                    value -= a[i * n + m] * a[m * n + k];
                value /= a[k * n + k];
                a[i * n + k] = value;
            }
        }
    }
}

// The rest of the matrix less the product of the panels. Neighbouring threads take neighbouring columns, each COARSE
// rows, so that an element of the upper panel that it has loaded serves COARSE times.
enum { COARSE = 4 };

static void update_rest(int n, int start, int end, float *a)
{
    int threads = tunable("threads", 128);
    int rest = n - end;
    int groups = (rest + COARSE - 1) / COARSE;
    int teams = (groups * rest + threads - 1) / threads;
#pragma omp target teams distribute parallel for collapse(2) num_teams(teams) thread_limit(threads)
    for (int group = 0; group < groups; group++)
        for (int j = end; j < n; j++) {
            int row = end + group * COARSE;
            int rows = n - row < COARSE ? n - row : COARSE;
            if (rows == COARSE) {
                float value[COARSE];
                for (int r = 0; r < COARSE; r++)
                    value[r] = a[(row + r) * n + j];
                for (int k = start; k < end; k++) {
                    float upper = a[k * n + j];
                    for (int r = 0; r < COARSE; r++)
                        value[r] -= a[(row + r) * n + k] * upper;
                }
                for (int r = 0; r < COARSE; r++)
                    a[(row + r) * n + j] = value[r];
            } else {
                for (int i = row; i < n; i++) {
                    float value = a[i * n + j];
                    for (int k = start; k < end; k++)
                        value -= a[i * n + k] * a[k * n + j];
                    a[i * n + j] = value;
                }
            }
        }
}

void lud(int n, float *a)
{
    int block = tunable("block", n <= 64 ? 64 : 32);
#pragma omp target data map(tofrom: a[0:n * n])
    for (int start = 0; start < n; start += block) {
        int end = n - start < block ? n : start + block;
        factor_diagonal(n, start, end, a);
        if (end < n) {
            solve_panels(n, start, end, a);
            update_rest(n, start, end, a);
        }
    }
}
