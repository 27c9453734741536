// The kernels of the sweep. Included once for each way to choose the grid, with CLAUSES and NAME(kernel) defined.
// n: iterations, or rows where two loops are collapsed; inner: length of the inner loops; k: matrices, or work in a body.

#define LEAGUE omp target teams distribute parallel for CLAUSES is_device_ptr(in, out)
#define DO_PRAGMA(...) _Pragma(#__VA_ARGS__)
#define PRAGMA(...) DO_PRAGMA(__VA_ARGS__)
#define PARAMETERS int n, int inner, int k, const float *in, float *out, int teams, int threads

// Uncoalesced: neighbouring threads read neighbouring rows.
static void NAME(row_sums)(PARAMETERS)
{
    PRAGMA(LEAGUE)
    for (int i = 0; i < n; i++) {
        float sum = 0;
        for (int q = 0; q < inner; q++)
            sum += in[(long)i * inner + q];
        out[i] = sum;
    }
}

// The same with arithmetic that depends on each element.
static void NAME(row_sums_heavy)(PARAMETERS)
{
    PRAGMA(LEAGUE)
    for (int i = 0; i < n; i++) {
        float sum = 0;
        for (int q = 0; q < inner; q++) {
            float value = in[(long)i * inner + q];
            for (int step = 0; step < k; step++)
                value = value * value * 0.5f + 0.25f;
            sum += value;
        }
        out[i] = sum;
    }
}

// Coalesced: neighbouring threads read neighbouring elements.
static void NAME(column_sums)(PARAMETERS)
{
    PRAGMA(LEAGUE)
    for (int i = 0; i < n; i++) {
        float sum = 0;
        for (int q = 0; q < inner; q++)
            sum += in[(long)q * n + i];
        out[i] = sum;
    }
}

static void NAME(column_sums_heavy)(PARAMETERS)
{
    PRAGMA(LEAGUE)
    for (int i = 0; i < n; i++) {
        float sum = 0;
        for (int q = 0; q < inner; q++) {
            float value = in[(long)q * n + i];
            for (int step = 0; step < k; step++)
                value = value * value * 0.5f + 0.25f;
            sum += value;
        }
        out[i] = sum;
    }
}

// Chikin 2018, Table 1: rows of k matrices of inner x inner are summed, uncoalesced, by n x inner threads.
static void NAME(matrix_sums)(PARAMETERS)
{
    PRAGMA(LEAGUE collapse(2))
    for (int i = 0; i < n; i++)
        for (int j = 0; j < inner; j++) {
            float sum = 0;
            for (int q = 0; q < inner; q++)
                for (int matrix = 0; matrix < k; matrix++)
                    sum += in[((long)matrix * inner + j) * inner + q];
            out[(long)i * inner + j] = sum;
        }
}

// k uncoalesced accesses whose data is read once: from memory, not from the second-level cache.
static void NAME(rows_of_k)(PARAMETERS)
{
    PRAGMA(LEAGUE)
    for (int i = 0; i < n; i++) {
        float sum = 0;
        for (int q = 0; q < inner; q++)
            for (int matrix = 0; matrix < k; matrix++)
                sum += in[((long)matrix * n + i) * inner + q];
        out[i] = sum;
    }
}

// Streams: two reads and a write for each iteration.
static void NAME(triad)(PARAMETERS)
{
    PRAGMA(LEAGUE)
    for (int i = 0; i < n; i++)
        out[i] = 3.0f * in[i] + in[(long)n + i];
}

static void NAME(stream_heavy)(PARAMETERS)
{
    PRAGMA(LEAGUE)
    for (int i = 0; i < n; i++) {
        float value = in[i];
        for (int step = 0; step < k; step++)
            value = value * value * 0.5f + 0.25f;
        out[i] = value;
    }
}

static void NAME(stencil)(PARAMETERS)
{
    PRAGMA(LEAGUE collapse(2))
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < inner - 1; j++)
            out[i * inner + j] = 0.2f * (in[i * inner + j] + in[(i - 1) * inner + j] + in[(i + 1) * inner + j] +
                                         in[i * inner + j - 1] + in[i * inner + j + 1]);
}

static void NAME(gemm)(PARAMETERS)
{
    PRAGMA(LEAGUE collapse(2))
    for (int i = 0; i < n; i++)
        for (int j = 0; j < inner; j++) {
            float sum = 0;
            for (int q = 0; q < inner; q++)
                sum += in[i * inner + q] * in[q * inner + j];
            out[i * inner + j] = sum;
        }
}

// One access uncoalesced, one the same for all threads of a warp.
static void NAME(syrk)(PARAMETERS)
{
    PRAGMA(LEAGUE collapse(2))
    for (int i = 0; i < n; i++)
        for (int j = 0; j < inner; j++) {
            float sum = 0;
            for (int q = 0; q < inner; q++)
                sum += in[i * inner + q] * in[j * inner + q];
            out[i * inner + j] = sum;
        }
}

// The same product, summed up in memory: each iteration of the inner loop stores before the next one loads.
static void NAME(gemm_memory)(PARAMETERS)
{
    PRAGMA(LEAGUE collapse(2))
    for (int i = 0; i < n; i++)
        for (int j = 0; j < inner; j++) {
            out[i * inner + j] = 0;
            for (int q = 0; q < inner; q++)
                out[i * inner + j] += in[i * inner + q] * in[q * inner + j];
        }
}

// Column sums, summed up in memory.
static void NAME(column_sums_memory)(PARAMETERS)
{
    PRAGMA(LEAGUE)
    for (int i = 0; i < n; i++) {
        out[i] = 0;
        for (int q = 0; q < inner; q++)
            out[i] += in[(long)q * n + i];
    }
}

// Row sums with weights, summed up in memory.
static void NAME(row_sums_memory)(PARAMETERS)
{
    PRAGMA(LEAGUE)
    for (int i = 0; i < n; i++) {
        out[i] = 0;
        for (int q = 0; q < inner; q++)
            out[i] += in[(long)i * inner + q] * in[q];
    }
}

// The rows of matrix_sums with its two loops exchanged: all threads of a warp read one element.
static void NAME(uniform_sums)(PARAMETERS)
{
    PRAGMA(LEAGUE collapse(2))
    for (int j = 0; j < n; j++)
        for (int i = 0; i < inner; i++) {
            float sum = 0;
            for (int q = 0; q < inner; q++)
                for (int matrix = 0; matrix < k; matrix++)
                    sum += in[(matrix * n + j) * inner + q];
            out[i * n + j] = sum;
        }
}

// A cube of n: three loops, whose variables are found by divisions.
static void NAME(stencil3d)(PARAMETERS)
{
    PRAGMA(LEAGUE collapse(3))
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < n - 1; j++)
            for (int q = 1; q < n - 1; q++) {
                int cell = (i * n + j) * n + q;
                out[cell] = 0.4f * in[cell] + 0.1f * (in[cell - 1] + in[cell + 1] + in[cell - n] + in[cell + n] +
                                                      in[cell - n * n] + in[cell + n * n]);
            }
}

static void NAME(copy3d)(PARAMETERS)
{
    PRAGMA(LEAGUE collapse(3))
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < n - 1; j++)
            for (int q = 1; q < n - 1; q++)
                out[(i * n + j) * n + q] = in[(i * n + j) * n + q];
}

// A row of a matrix for each thread, changed in place.
static void NAME(row_update)(PARAMETERS)
{
    PRAGMA(LEAGUE)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < inner; j++)
            out[i * inner + j] -= in[i * inner + k] * in[j];
}

// A row of an image for each thread, from three rows.
static void NAME(row_stencil)(PARAMETERS)
{
    PRAGMA(LEAGUE)
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < inner - 1; j++)
            out[i * inner + j] = in[(i - 1) * inner + j - 1] + in[(i - 1) * inner + j + 1] + in[i * inner + j] +
                                 in[(i + 1) * inner + j - 1] + in[(i + 1) * inner + j + 1];
}

#undef PARAMETERS
#undef PRAGMA
#undef DO_PRAGMA
#undef LEAGUE
#undef CLAUSES
#undef NAME
