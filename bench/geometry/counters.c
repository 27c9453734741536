// Kernels of each kind of access, with their sizes compiled in (-DN=.. -DM=..), for a profiler that counts sectors.
// `tests/counters.rs` reads this text with the same sizes and predicts what each kernel loads and stores.
#include <omp.h>
#include <stdio.h>

struct point {
    float x, y, z, w;
};

static void row_sums(const float *in, float *out)
{
#pragma omp target teams distribute parallel for is_device_ptr(in, out) thread_limit(128)
    for (int i = 0; i < N; i++) {
        float sum = 0;
        for (int j = 0; j < M; j++)
            sum += in[i * M + j];
        out[i] = sum;
    }
}

static void column_sums(const float *in, float *out)
{
#pragma omp target teams distribute parallel for is_device_ptr(in, out) thread_limit(128)
    for (int i = 0; i < N; i++) {
        float sum = 0;
        for (int j = 0; j < M; j++)
            sum += in[j * N + i];
        out[i] = sum;
    }
}

static void row_scale(const float *in, float *out)
{
#pragma omp target teams distribute parallel for is_device_ptr(in, out) thread_limit(128)
    for (int i = 0; i < N; i++)
        for (int j = 0; j < M; j++)
            out[i * M + j] = 2.0f * in[i * M + j];
}

static void column_scale(const float *in, float *out)
{
#pragma omp target teams distribute parallel for is_device_ptr(in, out) thread_limit(128)
    for (int i = 0; i < N; i++)
        for (int j = 0; j < M; j++)
            out[j * N + i] = 2.0f * in[j * N + i];
}

static void broadcast(const float *in, float *out)
{
#pragma omp target teams distribute parallel for is_device_ptr(in, out) thread_limit(128)
    for (int i = 0; i < N; i++) {
        float sum = 0;
        for (int j = 0; j < M; j++)
            sum += in[j] * (float)(i ^ j);
        out[i] = sum;
    }
}

static void triad(const float *in, float *out)
{
#pragma omp target teams distribute parallel for is_device_ptr(in, out) thread_limit(128)
    for (int i = 0; i < N * M; i++)
        out[i] = 3.0f * in[i] + in[N * M + i];
}

static void stride_three(const float *in, float *out)
{
#pragma omp target teams distribute parallel for is_device_ptr(in, out) thread_limit(128)
    for (int i = 0; i < N * M; i++)
        out[3 * i] = in[5 * i];
}

static void reversed(const float *in, float *out)
{
#pragma omp target teams distribute parallel for is_device_ptr(in, out) thread_limit(128)
    for (int i = 0; i < N * M; i++)
        out[N * M - 1 - i] = in[N * M - 1 - i];
}

static void wide(const double *in, double *out)
{
#pragma omp target teams distribute parallel for is_device_ptr(in, out) thread_limit(128)
    for (int i = 0; i < N * M; i++)
        out[i] = 2.0 * in[i];
}

static void narrow(const unsigned char *in, unsigned char *out)
{
#pragma omp target teams distribute parallel for is_device_ptr(in, out) thread_limit(128)
    for (int i = 0; i < N * M; i++)
        out[i] = (unsigned char)(in[i] / 3);
}

static void members(const struct point *in, struct point *out)
{
#pragma omp target teams distribute parallel for is_device_ptr(in, out) thread_limit(128)
    for (int i = 0; i < N * M; i++)
        out[i].y = in[i].w;
}

static void transpose(const float *in, float *out)
{
#pragma omp target teams distribute parallel for collapse(2) is_device_ptr(in, out) thread_limit(128)
    for (int i = 0; i < N; i++)
        for (int j = 0; j < M; j++)
            out[j * N + i] = in[i * M + j];
}

static void exchanged(const float *in, float *out)
{
#pragma omp target teams distribute parallel for collapse(2) is_device_ptr(in, out) thread_limit(128)
    for (int j = 0; j < M; j++)
        for (int i = 0; i < N; i++)
            out[i * M + j] = 2.0f * in[i * M + j];
}

static void gemm(const float *in, float *out)
{
#pragma omp target teams distribute parallel for collapse(2) is_device_ptr(in, out) thread_limit(128)
    for (int i = 0; i < N; i++)
        for (int j = 0; j < M; j++) {
            float sum = 0;
            for (int k = 0; k < 64; k++)
                sum += in[i * 64 + k] * in[k * M + j];
            out[i * M + j] = sum;
        }
}

static void syrk(const float *in, float *out)
{
#pragma omp target teams distribute parallel for collapse(2) is_device_ptr(in, out) thread_limit(128)
    for (int i = 0; i < N; i++)
        for (int j = 0; j < M; j++) {
            float sum = 0;
            for (int k = 0; k < 64; k++)
                sum += in[i * 64 + k] * in[j * 64 + k];
            out[i * M + j] = sum;
        }
}

static void stencil(const float *in, float *out)
{
#pragma omp target teams distribute parallel for collapse(2) is_device_ptr(in, out) thread_limit(128)
    for (int i = 1; i < N - 1; i++)
        for (int j = 1; j < M - 1; j++)
            out[i * M + j] = in[i * M + j] + in[(i - 1) * M + j] + in[(i + 1) * M + j] + in[i * M + j - 1] + in[i * M + j + 1];
}

static void planes(const float *in, float *out)
{
#pragma omp target teams distribute parallel for collapse(3) is_device_ptr(in, out) thread_limit(128)
    for (int k = 1; k < 7; k++)
        for (int i = 0; i < N; i++)
            for (int j = 0; j < M; j++)
                out[(k * N + i) * M + j] = in[((k - 1) * N + i) * M + j] + in[((k + 1) * N + i) * M + j];
}

int main(void)
{
    enum { ELEMENTS = 1 << 26 };
    void *in = omp_target_alloc(ELEMENTS * sizeof(float), omp_get_default_device());
    void *out = omp_target_alloc(ELEMENTS * sizeof(float), omp_get_default_device());
    if (!in || !out)
        return 1;
    row_sums(in, out);
    column_sums(in, out);
    row_scale(in, out);
    column_scale(in, out);
    broadcast(in, out);
    triad(in, out);
    stride_three(in, out);
    reversed(in, out);
    wide(in, out);
    narrow(in, out);
    members(in, out);
    transpose(in, out);
    exchanged(in, out);
    gemm(in, out);
    syrk(in, out);
    stencil(in, out);
    planes(in, out);
    printf("%d,%d\n", N, M);
    return 0;
}
