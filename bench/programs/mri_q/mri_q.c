// The image matrix of a reconstruction from a magnetic resonance scanner (after Parboil's MRI-Q).
#include "mri_q.h"
#include "program.h"

#include <math.h>

enum { CHECKED = 1000 }; // voxels that the host computes itself

static int n, count;
static float *k[3], *real, *imaginary, *place[3], *strength, *qr, *qi, *sampled_r, *sampled_i;
static int *sample;
static double *expected_r, *expected_i;

static void allocate(const long *sizes)
{
    n = (int)sizes[0];
    count = (int)sizes[1];
    for (int d = 0; d < 3; d++) {
        k[d] = new_floats(count);
        place[d] = new_floats(n);
    }
    real = new_floats(count);
    imaginary = new_floats(count);
    strength = new_floats(count);
    qr = new_floats(n);
    qi = new_floats(n);
    sample = new_ints(CHECKED);
    sampled_r = new_floats(CHECKED);
    sampled_i = new_floats(CHECKED);
    expected_r = new_doubles(CHECKED);
    expected_i = new_doubles(CHECKED);
}

static void prepare(void)
{
    for (int d = 0; d < 3; d++) {
        fill_floats(k[d], count, -4.0f, 4.0f);
        fill_floats(place[d], n, -1.0f, 1.0f);
    }
    fill_floats(real, count, -1.0f, 1.0f);
    fill_floats(imaginary, count, -1.0f, 1.0f);
    poison_floats(strength, count);
    poison_floats(qr, n);
    poison_floats(qi, n);
}

static void run(void)
{
    struct samples samples = {count, k[0], k[1], k[2], real, imaginary};
    mri_q(n, &samples, place[0], place[1], place[2], strength, qr, qi);
}

// Every voxel where they are few, else as many at random.
static void check(void)
{
    int checked = n < CHECKED ? n : CHECKED;
    fill_ints(sample, checked, 0, n - 1);
#pragma omp parallel for
    for (int s = 0; s < checked; s++) {
        int i = n < CHECKED ? s : sample[s];
        double sum_r = 0, sum_i = 0;
        for (int j = 0; j < count; j++) {
            double angle = 0;
            for (int d = 0; d < 3; d++)
                angle += (double)k[d][j] * place[d][i];
            angle *= 2 * acos(-1);
            double strong = (double)real[j] * real[j] + (double)imaginary[j] * imaginary[j];
            sum_r += strong * cos(angle);
            sum_i += strong * sin(angle);
        }
        expected_r[s] = sum_r;
        expected_i[s] = sum_i;
        sampled_r[s] = qr[i];
        sampled_i[s] = qi[i];
    }
    check_floats("qr", sampled_r, expected_r, checked, 1e-4);
    check_floats("qi", sampled_i, expected_i, checked, 1e-4);
}

static struct work work(void)
{
    return (struct work){.bytes_in = 4.0 * (3.0 * n + 5.0 * count),
                         .bytes_out = 2 * 4.0 * n,
                         .device_bytes = 5 * 4.0 * n,
                         .operations = 14.0 * n * count}; // a sine and a cosine count 3 each
}

const struct program program = {"mri_q", "voxels samples", allocate, prepare, run, check, work};
