// Three dense matrix products, of which the third multiplies the results of the others (Polybench's 3MM).
#include "three_mm.h"
#include "program.h"

static int n;
static float *a, *b, *c, *d, *e, *f, *g;

static void allocate(const long *sizes)
{
    n = (int)sizes[0];
    size_t elements = (size_t)n * n;
    a = new_floats(elements);
    b = new_floats(elements);
    c = new_floats(elements);
    d = new_floats(elements);
    e = new_floats(elements);
    f = new_floats(elements);
    g = new_floats(elements);
}

static void prepare(void)
{
    size_t elements = (size_t)n * n;
    fill_floats(a, elements, -1.0f, 1.0f);
    fill_floats(b, elements, -1.0f, 1.0f);
    fill_floats(c, elements, -1.0f, 1.0f);
    fill_floats(d, elements, -1.0f, 1.0f);
    poison_floats(e, elements);
    poison_floats(f, elements);
    poison_floats(g, elements);
}

static void run(void) { three_mm(n, a, b, c, d, e, f, g); }

static void check(void)
{
    check_product("e = a b", a, b, e, n, n, n, 3e-6);
    check_product("f = c d", c, d, f, n, n, n, 3e-6);
    check_product("g = e f", e, f, g, n, n, n, 3e-6);
}

static struct work work(void)
{
    double matrix = 4.0 * n * n;
    return (struct work){
        .bytes_in = 4 * matrix, .bytes_out = 3 * matrix, .device_bytes = 9 * matrix, .operations = 6.0 * n * n * n};
}

const struct program program = {"three_mm", "n", allocate, prepare, run, check, work};
