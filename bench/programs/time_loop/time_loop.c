// Damped waves in a basin, one host loop over the time steps with two target regions in each (ours).
#include "program.h"
#include "time_loop.h"

static const float damping = 0.98f;
static int n, steps;
static float *wall, *height, *velocity, *height_before, *velocity_before;
static double *expected_height, *expected_velocity;

static void allocate(const long *sizes)
{
    n = (int)sizes[0];
    steps = (int)sizes[1];
    size_t cells = (size_t)n * n;
    wall = new_floats(steps);
    height = new_floats(cells);
    velocity = new_floats(cells);
    height_before = new_floats(cells);
    velocity_before = new_floats(cells);
    expected_height = new_doubles(cells);
    expected_velocity = new_doubles(cells);
}

static void prepare(void)
{
    size_t cells = (size_t)n * n;
    fill_floats(wall, steps, -1.0f, 1.0f);
    fill_floats(height_before, cells, -1.0f, 1.0f);
    fill_floats(velocity_before, cells, -0.5f, 0.5f);
#pragma omp parallel for
    for (size_t i = 0; i < cells; i++) {
        height[i] = height_before[i];
        velocity[i] = velocity_before[i];
    }
}

static void run(void) { time_loop(n, steps, damping, wall, height, velocity); }

static void check(void)
{
    double *h = expected_height, *v = expected_velocity;
#pragma omp parallel for
    for (size_t i = 0; i < (size_t)n * n; i++) {
        h[i] = height_before[i];
        v[i] = velocity_before[i];
    }
    for (int t = 0; t < steps; t++) {
#pragma omp parallel for
        for (int i = 1; i < n - 1; i++)
            for (size_t c = (size_t)i * n + 1; c < (size_t)i * n + n - 1; c++)
                v[c] = (double)damping * v[c] + 0.2 * (h[c - 1] + h[c + 1] + h[c - n] + h[c + n] - 4 * h[c]);
#pragma omp parallel for
        for (int i = 0; i < n - 1; i++)
            for (size_t c = (size_t)i * n + 1; c < (size_t)i * n + n - 1; c++)
                h[c] = i == 0 ? wall[t] : h[c] + v[c];
    }
    check_floats("height", height, h, (size_t)n * n, 5e-6);
    check_floats("velocity", velocity, v, (size_t)n * n, 5e-6);
}

static struct work work(void)
{
    double cells = (double)n * n;
    return (struct work){
        .bytes_in = 2 * 4 * cells,
        .bytes_out = 2 * 4 * cells,
        .device_bytes = 4 * 4 * cells * steps,
        .operations = 9 * cells * steps,
    };
}

const struct program program = {"time_loop", "n steps", allocate, prepare, run, check, work};
