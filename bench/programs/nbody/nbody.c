// One step of gravity between all pairs of bodies (as in the CUDA samples).
#include "nbody.h"
#include "program.h"

#include <math.h>

// Accelerations that the host computes itself; of more bodies it takes a random sample of this size.
enum { SAMPLE = 512 };

static const float dt = 1e-3f;
static int n, samples;
static int *sample;
static float *mass, *r[3], *v[3], *a[3]; // for x, y and z
static float *r_before[3], *v_before[3], *sampled[3];
static double *expected[3], *expected_v, *expected_r;

static void allocate(const long *sizes)
{
    n = (int)sizes[0];
    samples = n < SAMPLE ? n : SAMPLE;
    mass = new_floats(n);
    for (int d = 0; d < 3; d++) {
        r[d] = new_floats(n);
        v[d] = new_floats(n);
        a[d] = new_floats(n);
        r_before[d] = new_floats(n);
        v_before[d] = new_floats(n);
        sampled[d] = new_floats(samples);
        expected[d] = new_doubles(samples);
    }
    sample = new_ints(samples);
    expected_v = new_doubles(n);
    expected_r = new_doubles(n);
}

static void prepare(void)
{
    fill_floats(mass, n, 0.5f, 1.5f);
    for (int d = 0; d < 3; d++) {
        fill_floats(r_before[d], n, -1.0f, 1.0f);
        fill_floats(v_before[d], n, -1.0f, 1.0f);
        for (int i = 0; i < n; i++) {
            r[d][i] = r_before[d][i];
            v[d][i] = v_before[d][i];
        }
        poison_floats(a[d], n);
    }
}

static void run(void)
{
    nbody(n, dt, mass, r[0], r[1], r[2], v[0], v[1], v[2], a[0], a[1], a[2]);
}

static void accelerations(void)
{
#pragma omp parallel for
    for (int s = 0; s < samples; s++) {
        int i = sample[s];
        double sum[3] = {0, 0, 0};
        for (int j = 0; j < n; j++) {
            double dx = (double)r_before[0][j] - r_before[0][i];
            double dy = (double)r_before[1][j] - r_before[1][i];
            double dz = (double)r_before[2][j] - r_before[2][i];
            double squared = dx * dx + dy * dy + dz * dz + SOFTENING;
            double weight = mass[j] / (squared * sqrt(squared));
            sum[0] += weight * dx;
            sum[1] += weight * dy;
            sum[2] += weight * dz;
        }
        for (int d = 0; d < 3; d++) {
            sampled[d][s] = a[d][i];
            expected[d][s] = sum[d];
        }
    }
}

// The accelerations of the sample are compared with the host's. All forces together must vanish, which a wrong one
// elsewhere would spoil. Velocities and positions follow from the accelerations, and all of them are compared.
static void check(void)
{
    static const char *const a_names[3] = {"ax", "ay", "az"}, *const v_names[3] = {"vx", "vy", "vz"},
                                 *const r_names[3] = {"x", "y", "z"};
    if (samples < n) {
        fill_ints(sample, samples, 0, n - 1);
    } else {
        for (int s = 0; s < samples; s++)
            sample[s] = s;
    }
    accelerations();
    for (int d = 0; d < 3; d++) {
        check_floats(a_names[d], sampled[d], expected[d], samples, 1e-5);
        double total = 0, size = 0;
        for (int i = 0; i < n; i++) {
            total += (double)mass[i] * a[d][i];
            size += fabs((double)mass[i] * a[d][i]);
            expected_v[i] = v_before[d][i] + (double)dt * a[d][i];
            expected_r[i] = r_before[d][i] + dt * expected_v[i];
        }
        check_float("total force", size == 0 ? 0 : total / size, 0, 1e-6);
        check_floats(v_names[d], v[d], expected_v, n, 1e-6);
        check_floats(r_names[d], r[d], expected_r, n, 1e-6);
    }
}

static struct work work(void)
{
    // Of each pair: 3 differences, 3 fused and 1 plain multiplication and addition each, the root and the quotient,
    // 3 multiplications and 3 fused.
    return (struct work){.bytes_in = 7 * 4.0 * n,
                         .bytes_out = 9 * 4.0 * n,
                         .device_bytes = 16 * 4.0 * n,
                         .operations = 20.0 * n * n};
}

const struct program program = {"nbody", "n", allocate, prepare, run, check, work};
