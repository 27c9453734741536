/* Transpositions in tiles by hand: FORM says how a team takes a tile, TILE how long its sides are, THREADS how many it has, GRID how many teams
 * there are. Prints the microseconds of each, launch among them: the least of seven. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { KERNELS = 3, TIMES = 7, LENGTHS = 7 };
/* Rows that the threads of a team take at once. */
enum { STEP = THREADS / TILE > 0 ? THREADS / TILE : 1, EACH = TILE / STEP };

#if GRID == 0
#define TEAMS
#elif GRID == 1 /* one for each tile */
#define TEAMS num_teams(((n + TILE - 1) / TILE) * ((n + TILE - 1) / TILE))
#elif GRID == 2 /* as many as an H200 holds */
#define TEAMS num_teams(132 * (2048 / THREADS))
#endif

#define DO(text) _Pragma(#text)
#define PRAGMA(...) DO(__VA_ARGS__)
#define IS_THERE (x < n - bi && y < n - bj)
#define LOAD_AT { const int i = bi + x; const int j = bj + y; tile[x][y] = FROM; }
#define STORE_AT { const int i = bi + x; const int j = bj + y; b[j * n + i] = TO; }

#if FORM == 0 /* two parallel loops, as `stage` writes them */
#define BODY \
    PRAGMA(omp parallel for collapse(2)) \
    for (int x = 0; x < TILE; x++) for (int y = 0; y < TILE; y++) if (IS_THERE) LOAD_AT \
    PRAGMA(omp parallel for collapse(2)) \
    for (int y = 0; y < TILE; y++) for (int x = 0; x < TILE; x++) if (IS_THERE) STORE_AT
#elif FORM == 1 /* one parallel region with two loops */
#define BODY \
    PRAGMA(omp parallel) { \
    PRAGMA(omp for collapse(2)) \
    for (int x = 0; x < TILE; x++) for (int y = 0; y < TILE; y++) if (IS_THERE) LOAD_AT \
    PRAGMA(omp for collapse(2)) \
    for (int y = 0; y < TILE; y++) for (int x = 0; x < TILE; x++) if (IS_THERE) STORE_AT }
#elif FORM == 2 /* several rows in one thread, unrolled */
#define BODY \
    PRAGMA(omp parallel for collapse(2)) \
    for (int r = 0; r < STEP; r++) for (int y = 0; y < TILE; y++) \
    PRAGMA(omp unroll full) \
    for (int k = 0; k < EACH; k++) { const int x = r + k * STEP; if (IS_THERE) LOAD_AT } \
    PRAGMA(omp parallel for collapse(2)) \
    for (int r = 0; r < STEP; r++) for (int x = 0; x < TILE; x++) \
    PRAGMA(omp unroll full) \
    for (int k = 0; k < EACH; k++) { const int y = r + k * STEP; if (IS_THERE) STORE_AT }
#elif FORM == 3 /* the same without questions in whole tiles; without a tile in others */
#define BODY \
    if (n - bi >= TILE && n - bj >= TILE) { \
    PRAGMA(omp parallel for collapse(2)) \
    for (int r = 0; r < STEP; r++) for (int y = 0; y < TILE; y++) \
    PRAGMA(omp unroll full) \
    for (int k = 0; k < EACH; k++) { const int x = r + k * STEP; LOAD_AT } \
    PRAGMA(omp parallel for collapse(2)) \
    for (int r = 0; r < STEP; r++) for (int x = 0; x < TILE; x++) \
    PRAGMA(omp unroll full) \
    for (int k = 0; k < EACH; k++) { const int y = r + k * STEP; STORE_AT } \
    } else { \
    PRAGMA(omp parallel for collapse(2)) \
    for (int y = 0; y < TILE; y++) for (int x = 0; x < TILE; x++) if (IS_THERE) LOOSE_AT \
    }
#define LOOSE_AT { const int i = bi + x; const int j = bj + y; b[j * n + i] = LOOSE; }
#elif FORM == 4 /* whole tiles without questions, one element at a time */
#define BODY \
    if (n - bi >= TILE && n - bj >= TILE) { \
    PRAGMA(omp parallel for collapse(2)) \
    for (int x = 0; x < TILE; x++) for (int y = 0; y < TILE; y++) LOAD_AT \
    PRAGMA(omp parallel for collapse(2)) \
    for (int y = 0; y < TILE; y++) for (int x = 0; x < TILE; x++) STORE_AT \
    } else { \
    PRAGMA(omp parallel for collapse(2)) \
    for (int y = 0; y < TILE; y++) for (int x = 0; x < TILE; x++) if (IS_THERE) LOOSE_AT \
    }
#define LOOSE_AT { const int i = bi + x; const int j = bj + y; b[j * n + i] = LOOSE; }
#endif

#define KERNEL(name, type) \
    static void name(int n, const type *a, type *b) \
    { \
        PRAGMA(omp target teams distribute collapse(2) thread_limit(THREADS) TEAMS map(to: a[0:n*n]) map(from: b[0:n*n])) \
        for (int bi = 0; bi < n; bi += TILE) \
            for (int bj = 0; bj < n; bj += TILE) { \
                type tile[TILE][TILE + 1]; \
                BODY \
            } \
    }

#define FROM a[i * n + j]
#define TO tile[x][y]
#define LOOSE a[i * n + j]
KERNEL(transpose, float)
KERNEL(doubles, double)
#undef TO
#undef LOOSE
#define TO 0.5f * (a[j * n + i] + tile[x][y])
#define LOOSE 0.5f * (a[j * n + i] + a[i * n + j])
KERNEL(symmetric, float)

static double best[KERNELS];

static void note(int kernel, double start)
{
    double time = 1e6 * (omp_get_wtime() - start);
    if (best[kernel] == 0 || time < best[kernel])
        best[kernel] = time;
}

static void measure(int n)
{
    size_t size = (size_t)n * n;
    float *a = malloc(sizeof(float) * size), *b = malloc(sizeof(float) * size), *s = malloc(sizeof(float) * size);
    double *d = malloc(sizeof(double) * size), *e = malloc(sizeof(double) * size);
    for (size_t i = 0; i < size; i++) {
        a[i] = (float)(i % 1013) / 7;
        d[i] = (double)(i % 1009) / 3;
    }
    for (int kernel = 0; kernel < KERNELS; kernel++)
        best[kernel] = 0;
#pragma omp target data map(to: a[0:size], d[0:size]) map(from: b[0:size], s[0:size], e[0:size])
    for (int time = 0; time < TIMES; time++) {
        double start = omp_get_wtime();
        transpose(n, a, b);
        note(0, start);
        start = omp_get_wtime();
        doubles(n, d, e);
        note(1, start);
        start = omp_get_wtime();
        symmetric(n, a, s);
        note(2, start);
    }
    double sum = 0;
    for (size_t i = 0; i < size; i++)
        sum += (double)(i % 31) * (b[i] + s[i] + e[i]);
    printf("%d,%d,%d,%d,%d", FORM, TILE, THREADS, GRID, n);
    for (int kernel = 0; kernel < KERNELS; kernel++)
        printf(",%.0f", best[kernel]);
    printf(",%.17g\n", sum);
    free(a), free(b), free(s), free(d), free(e);
}

int main(int argc, char **argv)
{
    const int lengths[LENGTHS] = {256, 512, 1024, 2048, 4096, 4099, 8192};
    for (int l = 0; l < LENGTHS; l++)
        if (argc < 2 || atoi(argv[1]) == lengths[l])
            measure(lengths[l]);
    return 0;
}
