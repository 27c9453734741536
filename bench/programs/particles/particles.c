// A dozen small kernels in each step over a structure of arrays (ours).
#include "program.h"
#include "particles.h"

enum { ARRAYS = 7 };
static const float dt = 0.001f;
static int n, steps;
static float *arrays[ARRAYS], *before[ARRAYS];
static double *expected[ARRAYS];

static void allocate(const long *sizes)
{
    n = (int)sizes[0];
    steps = (int)sizes[1];
    for (int a = 0; a < ARRAYS; a++) {
        arrays[a] = new_floats(n);
        before[a] = new_floats(n);
        expected[a] = new_doubles(n);
    }
}

static void prepare(void)
{
    for (int a = 0; a < ARRAYS; a++) {
        fill_floats(before[a], n, 0.2f, 0.8f);
        for (int i = 0; i < n; i++)
            arrays[a][i] = before[a][i];
    }
}

static void run(void)
{
    struct particles all = {n,         arrays[0], arrays[1], arrays[2],
                            arrays[3], arrays[4], arrays[5], arrays[6]};
    particles(&all, steps, dt);
}

static void check(void)
{
    static const char *const names[ARRAYS] = {"x", "y", "z", "vx", "vy", "vz", "heat"};
#pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double place[3], speed[3], heat = before[6][i];
        for (int d = 0; d < 3; d++) {
            place[d] = before[d][i];
            speed[d] = before[3 + d][i];
        }
        for (int t = 0; t < steps; t++) {
            speed[2] -= (double)9.81f * dt;
            heat += 0.5 * dt * (speed[0] * speed[0] + speed[1] * speed[1] + speed[2] * speed[2]);
            for (int d = 0; d < 3; d++) {
                speed[d] *= 1 - (double)0.1f * dt;
                place[d] += dt * speed[d];
                if (place[d] < 0 || place[d] > 1)
                    speed[d] = place[d] < 0 ? 0.5 : -0.5;
            }
            heat *= (double)0.999f;
        }
        for (int d = 0; d < 3; d++) {
            expected[d][i] = place[d];
            expected[3 + d][i] = speed[d];
        }
        expected[6][i] = heat;
    }
    for (int a = 0; a < ARRAYS; a++)
        check_floats(names[a], arrays[a], expected[a], n, 1e-4);
}

static struct work work(void)
{
    return (struct work){
        .bytes_in = ARRAYS * 4.0 * n,
        .bytes_out = ARRAYS * 4.0 * n,
        .device_bytes = 32 * 4.0 * n * steps,
        .operations = 22.0 * n * steps,
    };
}

const struct program program = {"particles", "n steps", allocate, prepare, run, check, work};
