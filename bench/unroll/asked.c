// Serial loops in the forms in which kernels ask how long they are, in the grids that `geometry` writes: rows, rows with a vector, two rows
// with a vector, columns, columns with a vector, products of matrices; of float and of double.
//
// usage: asked   prints kernel, type, iterations, length of the serial loop, and microseconds, the launch among them, the best of eleven, of
// the loop as it stands, unrolled 64 times where it runs 128 times, and unrolled 32 times with 16 bytes a load where it runs 32 times and
// rows begin on borders; 0 where a kernel has no such form. Fails if the forms differ in a bit.
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS = 11, LONG = 128, SOME = 32, BYTES = 16 };

// The grids: few threads where rows lie far apart, one warp where neighbours lie side by side.
#define ROWS                                                                                                     \
    _Pragma("omp target teams distribute parallel for num_teams(rows <= 33792 ? 2112 : rows < 1048576 ? rows / 16 + 1 : 65536) \
        thread_limit(16) dist_schedule(static, 0 < rows && rows <= 33792 ? (rows - 1) / 2112 + 1 : 16)")
#define COLUMNS \
    _Pragma("omp target teams distribute parallel for num_teams(0 <= rows && rows < 67584 ? rows / 32 + 1 : 2112) thread_limit(32)")
#define MATRIX                                                                                              \
    _Pragma("omp target teams distribute parallel for collapse(2) \
        num_teams(0 <= rows && rows < 1448 ? rows * rows / 32 + 1 : 65536) thread_limit(32)")
#define UNROLLED_64 _Pragma("omp unroll partial(64)")
#define UNROLLED_32 _Pragma("omp unroll partial(32)")
#define EACH for (int j = 0; j < length; j++)

#define KERNEL(name, form, T, grid, loop)                                                                           \
    static void name##_##T##_##form(int rows, int length, const T *a, const T *b, const T *x, T *y)                 \
    {                                                                                                               \
        (void)b, (void)x;                                                                                           \
        grid for (int i = 0; i < rows; i++) {                                                                       \
            T sum = 0;                                                                                              \
            loop y[i] = sum;                                                                                        \
        }                                                                                                           \
    }

#define PLAIN(term) EACH term
#define ASKED(term)        \
    if (length >= LONG) {  \
        UNROLLED_64        \
        EACH term          \
    } else {               \
        EACH term          \
    }
#define WIDE(T, term, wide_term)                                                                                         \
    if (length >= SOME && length % (BYTES / (int)sizeof(T)) == 0 && (unsigned long long)&a[i * length] % BYTES == 0) {   \
        const T *row = __builtin_assume_aligned(&a[i * length], BYTES);                                                  \
        const T *other = __builtin_assume_aligned(&b[i * length], BYTES);                                                \
        (void)other;                                                                                                     \
        UNROLLED_32                                                                                                      \
        EACH wide_term                                                                                                   \
    } else {                                                                                                             \
        EACH term                                                                                                        \
    }

#define OF_ROW sum += a[i * length + j];
#define OF_PRODUCT sum += a[i * length + j] * x[j];
#define OF_TWO sum += a[i * length + j] * x[j] + b[i * length + j];
#define OF_COLUMN sum += a[j * rows + i];
#define OF_COLUMN_PRODUCT sum += a[j * rows + i] * x[j];

#define KERNELS(T)                                                          \
    KERNEL(row, 0, T, ROWS, PLAIN(OF_ROW))                                  \
    KERNEL(row, 1, T, ROWS, ASKED(OF_ROW))                                  \
    KERNEL(row, 2, T, ROWS, WIDE(T, OF_ROW, sum += row[j];))                \
    KERNEL(product, 0, T, ROWS, PLAIN(OF_PRODUCT))                          \
    KERNEL(product, 1, T, ROWS, ASKED(OF_PRODUCT))                          \
    KERNEL(product, 2, T, ROWS, WIDE(T, OF_PRODUCT, sum += row[j] * x[j];)) \
    KERNEL(two, 0, T, ROWS, PLAIN(OF_TWO))                                  \
    KERNEL(two, 1, T, ROWS, ASKED(OF_TWO))                                  \
    KERNEL(two, 2, T, ROWS, WIDE(T, OF_TWO, sum += row[j] * x[j] + other[j];)) \
    KERNEL(column, 0, T, COLUMNS, PLAIN(OF_COLUMN))                         \
    KERNEL(column, 1, T, COLUMNS, ASKED(OF_COLUMN))                         \
    KERNEL(column_product, 0, T, COLUMNS, PLAIN(OF_COLUMN_PRODUCT))         \
    KERNEL(column_product, 1, T, COLUMNS, ASKED(OF_COLUMN_PRODUCT))         \
    MATRICES(0, T, PLAIN(OF_MATRIX))                                        \
    MATRICES(1, T, ASKED(OF_MATRIX))

#define OF_MATRIX sum += a[i * length + j] * b[j * rows + k];
#define MATRICES(form, T, loop)                                                                            \
    static void matrix_##T##_##form(int rows, int length, const T *a, const T *b, const T *x, T *y)        \
    {                                                                                                      \
        (void)x;                                                                                           \
        MATRIX for (int i = 0; i < rows; i++) for (int k = 0; k < rows; k++)                               \
        {                                                                                                  \
            T sum = 0;                                                                                     \
            loop y[i * rows + k] = sum;                                                                    \
        }                                                                                                  \
    }

#define TIME(name, T, form)                                                                \
    {                                                                                      \
        double best = 1e9;                                                                 \
        for (int run = 0; run < RUNS; run++) {                                             \
            double start = omp_get_wtime();                                                \
            name##_##T##_##form(rows, length, a, b, x, y);                                 \
            double time = omp_get_wtime() - start;                                         \
            best = time < best ? time : best;                                              \
        }                                                                                  \
        _Pragma("omp target update from(y[0:results])")                                    \
        if (form == 0)                                                                     \
            memcpy(first, y, (size_t)results * sizeof *y);                                 \
        else                                                                               \
            differences += memcmp(first, y, (size_t)results * sizeof *y) != 0;             \
        printf(",%.1f", best * 1e6);                                                       \
    }
#define LINE(name, T) printf("%s,%s,%d,%d", #name, #T, rows, length)

// `elements` of both matrices, which are larger than the caches.
#define ALL(T, elements)                                                                              \
    static int all_##T(void)                                                                          \
    {                                                                                                 \
        enum { MOST = 4194304, WHOLE = elements };                                                    \
        int differences = 0;                                                                          \
        T *a = malloc((elements) * sizeof *a), *b = malloc((elements) * sizeof *b);                   \
        T *x = malloc(MOST * sizeof *x), *y = malloc(MOST * sizeof *y), *first = malloc(MOST * sizeof *y); \
        for (int i = 0; i < (elements); i++) {                                                        \
            a[i] = (T)(i % 1009) / 997;                                                               \
            b[i] = (T)(i % 2003) / 1999;                                                              \
        }                                                                                             \
        for (int i = 0; i < MOST; i++)                                                                \
            x[i] = (T)(i % 101) / 97;                                                                 \
        _Pragma("omp target data map(to: a[0:WHOLE], b[0:WHOLE], x[0:MOST]) map(alloc: y[0:MOST])") \
        {                                                                                             \
            for (unsigned size = 0; size < sizeof sizes / sizeof *sizes; size++) {                    \
                int length = sizes[size][1];                                                          \
                int rows = (elements) / length < sizes[size][0] ? (elements) / length : sizes[size][0]; \
                int results = rows;                                                                   \
                LINE(row, T); TIME(row, T, 0) TIME(row, T, 1) TIME(row, T, 2) puts("");               \
                LINE(product, T); TIME(product, T, 0) TIME(product, T, 1) TIME(product, T, 2) puts(""); \
                LINE(two, T); TIME(two, T, 0) TIME(two, T, 1) TIME(two, T, 2) puts("");               \
                LINE(column, T); TIME(column, T, 0) TIME(column, T, 1) puts(",0");                    \
                LINE(column_product, T); TIME(column_product, T, 0) TIME(column_product, T, 1) puts(",0"); \
            }                                                                                         \
            for (unsigned size = 0; size < sizeof matrices / sizeof *matrices; size++) {              \
                int rows = matrices[size][0], length = matrices[size][1], results = rows * rows;      \
                LINE(matrix, T); TIME(matrix, T, 0) TIME(matrix, T, 1) puts(",0");                    \
            }                                                                                         \
        }                                                                                             \
        free(a), free(b), free(x), free(y), free(first);                                              \
        return differences;                                                                           \
    }

static const int sizes[][2] = {{16, 16384},     {256, 16384},   {1024, 16384},  {4096, 4096},   {4095, 4094},   {8192, 8192},
                               {16384, 4096},   {65536, 1024},  {262144, 256},  {516222, 130},  {1000000, 66},  {1048576, 64},
                               {1048576, 50},   {1048576, 36},  {1048576, 32},  {1048576, 20},  {1048576, 10},  {4194304, 8}};
static const int matrices[][2] = {{128, 128},   {256, 256},   {512, 512}, {1000, 1000}, {1024, 1024},
                                  {2048, 2048}, {1000, 100},  {1000, 50}, {1000, 10}};

KERNELS(float)
KERNELS(double)
ALL(float, 67108864)
ALL(double, 33554432)

int main(void)
{
    puts("kernel,type,iterations,length,as_it_stands_us,where_long_us,wide_us");
    int differences = all_float() + all_double();
    if (differences)
        fprintf(stderr, "%d results differ\n", differences);
    return differences != 0;
}
