// The loops, each as it is written without a pipeline and as pipelines by hand. Every form computes the same bit for bit.
//
// A tile's stages are tasks: `to` copies its part of the streams in, `run` is its kernel, `from` copies its part out. `tile[s]`
// stands for the data of tile s in `depend` clauses.
#ifndef PROGRAMS_H
#define PROGRAMS_H

#include <stddef.h>

enum { MOST_TILES = 64 };
enum form {
    NAIVE,     // one construct that copies everything in, computes, and copies out
    PIPED,     // arrays on the device as a whole, their copies and kernels in tiles
    WINDOWED,  // only `window` tiles on the device at a time: enter data, kernel, exit data
    FUSED,     // the same as one construct a tile
    UPDATED,   // PIPED, but the kernel copies its part out: `map(always, from: ..)`
    PRESENT,   // arrays on the device as a whole, one construct a tile: `map(always, to: ..) map(always, from: ..)`
    THREADS,   // PRESENT by `window` host threads without tasks
    THREADED_WINDOW, // FUSED by `window` host threads without tasks
};

struct how {
    enum form form;
    int tiles, window;
    int taskgroup; // wait by a taskgroup around the tiles instead of a taskwait after them
    int chained;   // each kernel after the one before it
    int separate;  // an update for each array instead of one for all
    int stepwise;  // pin a tile just before its first copy
};

// What a program reads and writes; `first` and `second` are streamed in, `whole` is copied once, `out` is streamed out.
struct data {
    long n;
    int work;
    float *first, *second, *whole, *out;
};

void pin_tile(const struct how *how, const void *start, size_t bytes);

#define TILE_BOUNDS(rows)                                                                                              \
    const long low = (rows) * s / how->tiles, high = (rows) * (s + 1) / how->tiles, length = high - low;               \
    (void)length
#define THREAD_LOOP _Pragma("omp parallel for num_threads(how->window) schedule(static, 1)")
#define ORDERED_THREAD_LOOP _Pragma("omp parallel for ordered num_threads(how->window) schedule(static, 1)")
#define WAIT_FOR(tiles)                                                                                                \
    if (how->taskgroup) {                                                                                              \
        _Pragma("omp taskgroup") { tiles; }                                                                            \
    } else {                                                                                                           \
        tiles;                                                                                                         \
        _Pragma("omp taskwait")                                                                                        \
    }

// stream: out[i] = f(first[i]), f being `work` multiplications and additions.

#define STREAM_BODY                                                                                                    \
    {                                                                                                                  \
        float value = in[i];                                                                                           \
        for (int w = 0; w < work; w++)                                                                                 \
            value = value * 0.999f + 0.5f;                                                                             \
        out[i] = value;                                                                                                \
    }

static inline void stream_tiles(const struct how *how, long n, int work, const float *in, float *out, char *tile,
                                char *chain)
{
    (void)tile;
    (void)chain;
    for (int s = 0; s < how->tiles; s++) {
        TILE_BOUNDS(n);
        pin_tile(how, in + low, (size_t)length * sizeof *in);
        pin_tile(how, out + low, (size_t)length * sizeof *out);
        if (how->form == PRESENT) {
            const int k = s % how->window;
#pragma omp target teams distribute parallel for map(always, to: in[low:length]) map(always, from: out[low:length])    \
    depend(inout: tile[k]) nowait thread_limit(128)
            for (long i = low; i < high; i++)
                STREAM_BODY
            continue;
        }
#pragma omp target update to(in[low:length]) depend(out: tile[s]) nowait
        if (how->form == UPDATED) {
#pragma omp target teams distribute parallel for map(always, from: out[low:length]) depend(in: tile[s]) nowait         \
    thread_limit(128)
            for (long i = low; i < high; i++)
                STREAM_BODY
            continue;
        }
#pragma omp target teams distribute parallel for depend(inout: tile[s], chain[how->chained ? 0 : s]) nowait thread_limit(128)
        for (long i = low; i < high; i++)
            STREAM_BODY
#pragma omp target update from(out[low:length]) depend(in: tile[s]) nowait
    }
}

static inline void stream_window(const struct how *how, long n, int work, const float *in, float *out, char *slot)
{
    (void)slot;
    for (int s = 0; s < how->tiles; s++) {
        TILE_BOUNDS(n);
        const int k = s % how->window;
        if (how->form == FUSED) {
#pragma omp target teams distribute parallel for map(to: in[low:length]) map(from: out[low:length])                    \
    depend(inout: slot[k]) nowait thread_limit(128)
            for (long i = low; i < high; i++)
                STREAM_BODY
            continue;
        }
#pragma omp target enter data map(to: in[low:length]) map(alloc: out[low:length]) depend(inout: slot[k]) nowait
#pragma omp target teams distribute parallel for map(to: in[low:length]) map(from: out[low:length])                    \
    depend(inout: slot[k]) nowait thread_limit(128)
        for (long i = low; i < high; i++)
            STREAM_BODY
#pragma omp target exit data map(release: in[low:length]) map(from: out[low:length]) depend(inout: slot[k]) nowait
    }
}

static inline void stream_threads(const struct how *how, long n, int work, const float *in, float *out)
{
    if (how->form == THREADED_WINDOW) {
        THREAD_LOOP
        for (int s = 0; s < how->tiles; s++) {
            TILE_BOUNDS(n);
#pragma omp target teams distribute parallel for map(to: in[low:length]) map(from: out[low:length]) thread_limit(128)
            for (long i = low; i < high; i++)
                STREAM_BODY
        }
        return;
    }
    if (how->chained) {
        ORDERED_THREAD_LOOP
        for (int s = 0; s < how->tiles; s++) {
            TILE_BOUNDS(n);
#pragma omp ordered
            {
#pragma omp target update to(in[low:length])
            }
#pragma omp target teams distribute parallel for map(always, from: out[low:length]) thread_limit(128)
            for (long i = low; i < high; i++)
                STREAM_BODY
        }
        return;
    }
    THREAD_LOOP
    for (int s = 0; s < how->tiles; s++) {
        TILE_BOUNDS(n);
        pin_tile(how, in + low, (size_t)length * sizeof *in);
        pin_tile(how, out + low, (size_t)length * sizeof *out);
#pragma omp target teams distribute parallel for map(always, to: in[low:length]) map(always, from: out[low:length])    \
    thread_limit(128)
        for (long i = low; i < high; i++)
            STREAM_BODY
    }
}

static inline void stream(const struct how *how, const struct data *data)
{
    const long n = data->n;
    const int work = data->work;
    const float *in = data->first;
    float *out = data->out;
    char tile[MOST_TILES], chain[MOST_TILES];
    if (how->form == NAIVE) {
#pragma omp target teams distribute parallel for map(to: in[0:n]) map(from: out[0:n]) thread_limit(128)
        for (long i = 0; i < n; i++)
            STREAM_BODY
    } else if (how->form == PIPED || how->form == UPDATED || how->form == PRESENT) {
#pragma omp target data map(alloc: in[0:n], out[0:n])
        WAIT_FOR(stream_tiles(how, n, work, in, out, tile, chain))
    } else if (how->form == THREADS) {
#pragma omp target data map(alloc: in[0:n], out[0:n])
        stream_threads(how, n, work, in, out);
    } else if (how->form == THREADED_WINDOW) {
        stream_threads(how, n, work, in, out);
    } else {
        WAIT_FOR(stream_window(how, n, work, in, out, tile))
    }
}

// in only: out[i] = sum of a row of 1024 elements; the results are copied out as a whole.

enum { ROW = 1024 };

static inline void in_only_tiles(const struct how *how, long rows, const float *in, float *out, char *tile, char *chain)
{
    (void)tile;
    (void)chain;
    for (int s = 0; s < how->tiles; s++) {
        TILE_BOUNDS(rows);
        pin_tile(how, in + low * ROW, (size_t)length * ROW * sizeof *in);
#pragma omp target update to(in[low * ROW:length * ROW]) depend(out: tile[s]) nowait
#pragma omp target teams distribute parallel for depend(inout: tile[s], chain[how->chained ? 0 : s]) nowait thread_limit(32)
        for (long i = low; i < high; i++) {
            float sum = 0;
            for (long j = 0; j < ROW; j++)
                sum += in[i * ROW + j];
            out[i] = sum;
        }
    }
}

static inline void in_only_threads(const struct how *how, long rows, const float *in, float *out)
{
    THREAD_LOOP
    for (int s = 0; s < how->tiles; s++) {
        TILE_BOUNDS(rows);
        pin_tile(how, in + low * ROW, (size_t)length * ROW * sizeof *in);
#pragma omp target teams distribute parallel for map(always, to: in[low * ROW:length * ROW]) thread_limit(32)
        for (long i = low; i < high; i++) {
            float sum = 0;
            for (long j = 0; j < ROW; j++)
                sum += in[i * ROW + j];
            out[i] = sum;
        }
    }
}

static inline void in_only(const struct how *how, const struct data *data)
{
    const long rows = data->n / ROW;
    const float *in = data->first;
    float *out = data->whole;
    char tile[MOST_TILES], chain[MOST_TILES];
    if (how->form == NAIVE) {
#pragma omp target teams distribute parallel for map(to: in[0:rows * ROW]) map(from: out[0:rows]) thread_limit(32)
        for (long i = 0; i < rows; i++) {
            float sum = 0;
            for (long j = 0; j < ROW; j++)
                sum += in[i * ROW + j];
            out[i] = sum;
        }
    } else {
#pragma omp target data map(alloc: in[0:rows * ROW]) map(from: out[0:rows])
        {
            if (how->form == THREADS) {
                in_only_threads(how, rows, in, out);
            } else {
                WAIT_FOR(in_only_tiles(how, rows, in, out, tile, chain))
            }
        }
    }
}

// out only: out[i] = f(i).

#define OUT_BODY                                                                                                       \
    {                                                                                                                  \
        float value = (float)(i & 1023);                                                                               \
        for (int w = 0; w < work; w++)                                                                                 \
            value = value * 0.999f + 0.5f;                                                                             \
        out[i] = value;                                                                                                \
    }

static inline void out_only_tiles(const struct how *how, long n, int work, float *out, char *tile)
{
    (void)tile;
    for (int s = 0; s < how->tiles; s++) {
        TILE_BOUNDS(n);
        pin_tile(how, out + low, (size_t)length * sizeof *out);
#pragma omp target teams distribute parallel for depend(out: tile[s]) nowait thread_limit(128)
        for (long i = low; i < high; i++)
            OUT_BODY
#pragma omp target update from(out[low:length]) depend(in: tile[s]) nowait
    }
}

static inline void out_only_threads(const struct how *how, long n, int work, float *out)
{
    THREAD_LOOP
    for (int s = 0; s < how->tiles; s++) {
        TILE_BOUNDS(n);
        pin_tile(how, out + low, (size_t)length * sizeof *out);
#pragma omp target teams distribute parallel for map(always, from: out[low:length]) thread_limit(128)
        for (long i = low; i < high; i++)
            OUT_BODY
    }
}

static inline void out_only(const struct how *how, const struct data *data)
{
    const long n = data->n;
    const int work = data->work;
    float *out = data->out;
    char tile[MOST_TILES];
    if (how->form == NAIVE) {
#pragma omp target teams distribute parallel for map(from: out[0:n]) thread_limit(128)
        for (long i = 0; i < n; i++)
            OUT_BODY
    } else {
#pragma omp target data map(alloc: out[0:n])
        {
            if (how->form == THREADS) {
                out_only_threads(how, n, work, out);
            } else {
                WAIT_FOR(out_only_tiles(how, n, work, out, tile))
            }
        }
    }
}

// gesummv: out = 1.5 first whole + 1.25 second whole, matrices of n x n.

#define GESUMMV_BODY                                                                                                   \
    {                                                                                                                  \
        float sum_a = 0, sum_b = 0;                                                                                    \
        for (long j = 0; j < n; j++) {                                                                                 \
            sum_a += a[i * n + j] * x[j];                                                                              \
            sum_b += b[i * n + j] * x[j];                                                                              \
        }                                                                                                              \
        y[i] = 1.5f * sum_a + 1.25f * sum_b;                                                                           \
    }

static inline void gesummv_tiles(const struct how *how, long n, const float *a, const float *b, const float *x,
                                 float *y, char *tile, char *other)
{
    (void)tile;
    (void)other;
    for (int s = 0; s < how->tiles; s++) {
        TILE_BOUNDS(n);
        pin_tile(how, a + low * n, (size_t)(length * n) * sizeof *a);
        pin_tile(how, b + low * n, (size_t)(length * n) * sizeof *b);
        if (how->separate) {
#pragma omp target update to(a[low * n:length * n]) depend(out: tile[s]) nowait
#pragma omp target update to(b[low * n:length * n]) depend(out: other[s]) nowait
        } else {
#pragma omp target update to(a[low * n:length * n], b[low * n:length * n]) depend(out: tile[s]) nowait
        }
#pragma omp target teams distribute parallel for depend(in: tile[s], other[s]) nowait thread_limit(32)
        for (long i = low; i < high; i++)
            GESUMMV_BODY
    }
}

static inline void gesummv_window(const struct how *how, long n, const float *a, const float *b, const float *x,
                                  float *y, char *slot)
{
    (void)slot;
    for (int s = 0; s < how->tiles; s++) {
        TILE_BOUNDS(n);
        const int k = s % how->window;
        if (how->form == FUSED) {
#pragma omp target teams distribute parallel for map(to: a[low * n:length * n], b[low * n:length * n])                 \
    depend(inout: slot[k]) nowait thread_limit(32)
            for (long i = low; i < high; i++)
                GESUMMV_BODY
            continue;
        }
#pragma omp target enter data map(to: a[low * n:length * n], b[low * n:length * n]) depend(inout: slot[k]) nowait
#pragma omp target teams distribute parallel for map(to: a[low * n:length * n], b[low * n:length * n])                 \
    depend(inout: slot[k]) nowait thread_limit(32)
        for (long i = low; i < high; i++)
            GESUMMV_BODY
#pragma omp target exit data map(release: a[low * n:length * n], b[low * n:length * n]) depend(inout: slot[k]) nowait
    }
}

static inline void gesummv_threads(const struct how *how, long n, const float *a, const float *b, const float *x,
                                   float *y)
{
    if (how->form == THREADED_WINDOW) {
        THREAD_LOOP
        for (int s = 0; s < how->tiles; s++) {
            TILE_BOUNDS(n);
#pragma omp target teams distribute parallel for map(to: a[low * n:length * n], b[low * n:length * n]) thread_limit(32)
            for (long i = low; i < high; i++)
                GESUMMV_BODY
        }
        return;
    }
    THREAD_LOOP
    for (int s = 0; s < how->tiles; s++) {
        TILE_BOUNDS(n);
        pin_tile(how, a + low * n, (size_t)(length * n) * sizeof *a);
        pin_tile(how, b + low * n, (size_t)(length * n) * sizeof *b);
#pragma omp target teams distribute parallel for map(always, to: a[low * n:length * n], b[low * n:length * n])         \
    thread_limit(32)
        for (long i = low; i < high; i++)
            GESUMMV_BODY
    }
}

static inline void gesummv(const struct how *how, const struct data *data)
{
    const long n = data->n;
    const float *a = data->first, *b = data->second, *x = data->whole;
    float *y = data->whole + n;
    char tile[MOST_TILES], other[MOST_TILES];
    if (how->form == NAIVE) {
#pragma omp target teams distribute parallel for map(to: a[0:n * n], b[0:n * n], x[0:n]) map(from: y[0:n])             \
    thread_limit(32)
        for (long i = 0; i < n; i++)
            GESUMMV_BODY
    } else if (how->form == PIPED) {
#pragma omp target data map(alloc: a[0:n * n], b[0:n * n]) map(to: x[0:n]) map(from: y[0:n])
        WAIT_FOR(gesummv_tiles(how, n, a, b, x, y, tile, other))
    } else if (how->form == THREADS) {
#pragma omp target data map(alloc: a[0:n * n], b[0:n * n]) map(to: x[0:n]) map(from: y[0:n])
        gesummv_threads(how, n, a, b, x, y);
    } else if (how->form == THREADED_WINDOW) {
#pragma omp target data map(to: x[0:n]) map(from: y[0:n])
        gesummv_threads(how, n, a, b, x, y);
    } else {
#pragma omp target data map(to: x[0:n]) map(from: y[0:n])
        WAIT_FOR(gesummv_window(how, n, a, b, x, y, tile))
    }
}

// atax: y = transposed first (first whole); the second product needs the matrix as a whole.

static inline void atax_tiles(const struct how *how, long n, const float *a, const float *x, float *middle, char *tile)
{
    (void)tile;
    for (int s = 0; s < how->tiles; s++) {
        TILE_BOUNDS(n);
        pin_tile(how, a + low * n, (size_t)(length * n) * sizeof *a);
#pragma omp target update to(a[low * n:length * n]) depend(out: tile[s]) nowait
#pragma omp target teams distribute parallel for depend(in: tile[s]) nowait thread_limit(32)
        for (long i = low; i < high; i++) {
            float sum = 0;
            for (long j = 0; j < n; j++)
                sum += a[i * n + j] * x[j];
            middle[i] = sum;
        }
    }
}

static inline void atax_threads(const struct how *how, long n, const float *a, const float *x, float *middle)
{
    THREAD_LOOP
    for (int s = 0; s < how->tiles; s++) {
        TILE_BOUNDS(n);
#pragma omp target teams distribute parallel for map(always, to: a[low * n:length * n]) thread_limit(32)
        for (long i = low; i < high; i++) {
            float sum = 0;
            for (long j = 0; j < n; j++)
                sum += a[i * n + j] * x[j];
            middle[i] = sum;
        }
    }
}

static inline void atax(const struct how *how, const struct data *data)
{
    const long n = data->n;
    const float *a = data->first, *x = data->whole;
    float *y = data->whole + n, *middle = data->whole + 2 * n;
    char tile[MOST_TILES];
    const int naive = how->form == NAIVE;
    if (naive) {
#pragma omp target enter data map(to: a[0:n * n])
    } else {
#pragma omp target enter data map(alloc: a[0:n * n])
    }
#pragma omp target data map(to: x[0:n]) map(alloc: middle[0:n]) map(from: y[0:n])
    {
        if (naive) {
#pragma omp target teams distribute parallel for thread_limit(32)
            for (long i = 0; i < n; i++) {
                float sum = 0;
                for (long j = 0; j < n; j++)
                    sum += a[i * n + j] * x[j];
                middle[i] = sum;
            }
        } else if (how->form == THREADS) {
            atax_threads(how, n, a, x, middle);
        } else {
            WAIT_FOR(atax_tiles(how, n, a, x, middle, tile))
        }
#pragma omp target teams distribute parallel for thread_limit(32)
        for (long j = 0; j < n; j++) {
            float sum = 0;
            for (long i = 0; i < n; i++)
                sum += a[i * n + j] * middle[i];
            y[j] = sum;
        }
    }
#pragma omp target exit data map(release: a[0:n * n])
}

// gemm: out = first whole, by rows.

#define GEMM_BODY                                                                                                      \
    {                                                                                                                  \
        float sum = 0;                                                                                                 \
        for (long k = 0; k < n; k++)                                                                                   \
            sum += a[i * n + k] * b[k * n + j];                                                                        \
        c[i * n + j] = sum;                                                                                            \
    }

static inline void gemm_tiles(const struct how *how, long n, const float *a, const float *b, float *c, char *tile,
                              char *chain)
{
    (void)tile;
    (void)chain;
    for (int s = 0; s < how->tiles; s++) {
        TILE_BOUNDS(n);
        pin_tile(how, a + low * n, (size_t)(length * n) * sizeof *a);
        pin_tile(how, c + low * n, (size_t)(length * n) * sizeof *c);
#pragma omp target update to(a[low * n:length * n]) depend(out: tile[s]) nowait
#pragma omp target teams distribute parallel for collapse(2) depend(inout: tile[s], chain[how->chained ? 0 : s])       \
    nowait thread_limit(128)
        for (long i = low; i < high; i++)
            for (long j = 0; j < n; j++)
                GEMM_BODY
#pragma omp target update from(c[low * n:length * n]) depend(in: tile[s]) nowait
    }
}

static inline void gemm_threads(const struct how *how, long n, const float *a, const float *b, float *c)
{
    THREAD_LOOP
    for (int s = 0; s < how->tiles; s++) {
        TILE_BOUNDS(n);
#pragma omp target teams distribute parallel for collapse(2) map(always, to: a[low * n:length * n])                    \
    map(always, from: c[low * n:length * n]) thread_limit(128)
        for (long i = low; i < high; i++)
            for (long j = 0; j < n; j++)
                GEMM_BODY
    }
}

static inline void gemm(const struct how *how, const struct data *data)
{
    const long n = data->n;
    const float *a = data->first, *b = data->second;
    float *c = data->out;
    char tile[MOST_TILES], chain[MOST_TILES];
    if (how->form == NAIVE) {
#pragma omp target teams distribute parallel for collapse(2) map(to: a[0:n * n], b[0:n * n]) map(from: c[0:n * n])     \
    thread_limit(128)
        for (long i = 0; i < n; i++)
            for (long j = 0; j < n; j++)
                GEMM_BODY
    } else {
#pragma omp target data map(alloc: a[0:n * n], c[0:n * n]) map(to: b[0:n * n])
        {
            if (how->form == THREADS) {
                gemm_threads(how, n, a, b, c);
            } else {
                WAIT_FOR(gemm_tiles(how, n, a, b, c, tile, chain))
            }
        }
    }
}

// conv: out[i][j] from the 3 x 3 elements around first[i][j], n x n; 0 in the outer columns, without the outer rows.

#define CONV_BODY                                                                                                      \
    out[i * n + j] = j == 0 || j == n - 1                                                                              \
                         ? 0                                                                                           \
                         : 0.2f * in[(i - 1) * n + j - 1] + 0.5f * in[(i - 1) * n + j] - 0.8f * in[(i - 1) * n + j + 1] - \
                               0.3f * in[i * n + j - 1] + 0.6f * in[i * n + j] - 0.9f * in[i * n + j + 1] +            \
                               0.4f * in[(i + 1) * n + j - 1] + 0.7f * in[(i + 1) * n + j] + 0.1f * in[(i + 1) * n + j + 1];

// A tile's copy brings the row below it as well, and leaves out its own first, which came with the tile before.
static inline void conv_tiles(const struct how *how, long n, const float *in, float *out, char *tile, char *done)
{
    (void)tile;
    (void)done;
    for (int s = 0; s < how->tiles; s++) {
        const long rows = n - 2;
        const long low = 1 + rows * s / how->tiles, high = 1 + rows * (s + 1) / how->tiles;
        const long first = s ? low + 1 : 0;
#pragma omp target update to(in[first * n:(high + 1 - first) * n]) depend(out: tile[s]) nowait
#pragma omp target teams distribute parallel for collapse(2) depend(in: tile[s], tile[s ? s - 1 : s])                  \
    depend(out: done[s]) nowait thread_limit(128)
        for (long i = low; i < high; i++)
            for (long j = 0; j < n; j++)
                CONV_BODY
#pragma omp target update from(out[low * n:(high - low) * n]) depend(in: done[s]) nowait
    }
}

// In the order of the tiles, so that the row above has come.
static inline void conv_threads(const struct how *how, long n, const float *in, float *out)
{
    ORDERED_THREAD_LOOP
    for (int s = 0; s < how->tiles; s++) {
        const long rows = n - 2;
        const long low = 1 + rows * s / how->tiles, high = 1 + rows * (s + 1) / how->tiles;
        const long first = s ? low + 1 : 0;
#pragma omp ordered
        {
#pragma omp target update to(in[first * n:(high + 1 - first) * n])
        }
#pragma omp target teams distribute parallel for collapse(2) map(always, from: out[low * n:(high - low) * n])          \
    thread_limit(128)
        for (long i = low; i < high; i++)
            for (long j = 0; j < n; j++)
                CONV_BODY
    }
}

static inline void conv(const struct how *how, const struct data *data)
{
    const long n = data->n;
    const float *in = data->first;
    float *out = data->out;
    char tile[MOST_TILES], done[MOST_TILES];
    if (how->form == NAIVE) {
#pragma omp target teams distribute parallel for collapse(2) map(to: in[0:n * n]) map(from: out[n:(n - 2) * n])        \
    thread_limit(128)
        for (long i = 1; i < n - 1; i++)
            for (long j = 0; j < n; j++)
                CONV_BODY
    } else {
#pragma omp target data map(alloc: in[0:n * n], out[0:n * n])
        {
            if (how->form == THREADS) {
                conv_threads(how, n, in, out);
            } else {
                WAIT_FOR(conv_tiles(how, n, in, out, tile, done))
            }
        }
    }
}

#endif
