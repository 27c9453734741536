// LU decomposition without pivoting (the mathematics of Rodinia's LUD).
#include "lud.h"
#include "program.h"

static int n;
static float *a, *before, *random_x;
static double *x, *ux, *lux, *expected;
static float *product;

static void allocate(const long *sizes)
{
    n = (int)sizes[0];
    a = new_floats((size_t)n * n);
    before = new_floats((size_t)n * n);
    random_x = new_floats(n);
    product = new_floats(n);
    x = new_doubles(n);
    ux = new_doubles(n);
    lux = new_doubles(n);
    expected = new_doubles(n);
}

// The diagonal outweighs its row and column, so that no pivot is small.
static void prepare(void)
{
    fill_floats(before, (size_t)n * n, -1.0f, 1.0f);
#pragma omp parallel for
    for (int i = 0; i < n; i++) {
        before[(size_t)i * n + i] += 0.75f * n + 1;
        for (int j = 0; j < n; j++)
            a[(size_t)i * n + j] = before[(size_t)i * n + j];
    }
}

static void run(void) { lud(n, a); }

// L (U x) is compared with the original times x, for a random x: any wrong element shows.
static void check(void)
{
    fill_floats(random_x, n, -1.0f, 1.0f);
    for (int j = 0; j < n; j++)
        x[j] = random_x[j];
    host_multiply(before, x, expected, n, n);
#pragma omp parallel for schedule(static, 16)
    for (int i = 0; i < n; i++) {
        ux[i] = 0;
        for (int j = i; j < n; j++)
            ux[i] += a[(size_t)i * n + j] * x[j];
    }
#pragma omp parallel for schedule(static, 16)
    for (int i = 0; i < n; i++) {
        lux[i] = ux[i];
        for (int j = 0; j < i; j++)
            lux[i] += a[(size_t)i * n + j] * ux[j];
        product[i] = (float)lux[i];
    }
    check_floats("L U x", product, expected, n, 1e-5);
}

static struct work work(void)
{
    double elements = (double)n * n;
    return (struct work){
        .bytes_in = 4 * elements,
        .bytes_out = 4 * elements,
        .device_bytes = 2 * 4 * elements,
        .operations = 2.0 / 3 * elements * n,
    };
}

const struct program program = {"lud", "n", allocate, prepare, run, check, work};
