// Dense matrix product (Polybench's GEMM).
#include "gemm.h"
#include "program.h"

static const float alpha = 1.5f, beta = 0.5f;
static int n;
static float *a, *b, *c, *c_before, *product;

static void allocate(const long *sizes)
{
    n = (int)sizes[0];
    size_t elements = (size_t)n * n;
    a = new_floats(elements);
    b = new_floats(elements);
    c = new_floats(elements);
    c_before = new_floats(elements);
    product = new_floats(elements);
}

static void prepare(void)
{
    size_t elements = (size_t)n * n;
    fill_floats(a, elements, -1.0f, 1.0f);
    fill_floats(b, elements, -1.0f, 1.0f);
    fill_floats(c_before, elements, -1.0f, 1.0f);
#pragma omp parallel for
    for (size_t i = 0; i < elements; i++)
        c[i] = c_before[i];
}

static void run(void) { gemm(n, alpha, beta, a, b, c); }

static void check(void)
{
#pragma omp parallel for
    for (size_t i = 0; i < (size_t)n * n; i++)
        product[i] = (float)((c[i] - (double)beta * c_before[i]) / alpha);
    check_product("(c - beta c') / alpha", a, b, product, n, n, n, 1e-4);
}

static struct work work(void)
{
    double matrix = 4.0 * n * n;
    return (struct work){
        .bytes_in = 3 * matrix, .bytes_out = matrix, .device_bytes = 4 * matrix, .operations = 2.0 * n * n * n};
}

const struct program program = {"gemm", "n", allocate, prepare, run, check, work};
