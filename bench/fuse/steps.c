/* Steps of neighbouring loops over one range, whose time is that of their launches. Prints the microseconds of a step: the least of nine runs. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROW = 964, INSIDE = 960, FIELD = ROW * ROW, TIMES = 9 };

/* Four loops that each read what the one before computed at the same place. */
static void state(int n, double dt, const double *restrict flux, double *restrict density, double *restrict energy,
                  double *restrict pressure, double *restrict speed)
{
#pragma omp target teams distribute parallel for map(to: flux[0:n]) map(tofrom: density[0:n])
    for (int i = 1; i < n - 1; i++)
        density[i] += dt * (flux[i + 1] - flux[i]);
#pragma omp target teams distribute parallel for map(to: density[0:n]) map(tofrom: energy[0:n])
    for (int i = 1; i < n - 1; i++)
        energy[i] = energy[i] / (1.0 + density[i] * dt);
#pragma omp target teams distribute parallel for map(to: density[0:n], energy[0:n]) map(tofrom: pressure[0:n])
    for (int i = 1; i < n - 1; i++)
        pressure[i] = 0.4 * density[i] * energy[i];
#pragma omp target teams distribute parallel for map(to: density[0:n], pressure[0:n]) map(tofrom: speed[0:n])
    for (int i = 1; i < n - 1; i++)
        speed[i] = speed[i] * 0.5 + pressure[i] / (1.0 + density[i] * density[i]);
}

static double p[FIELD], q[FIELD], r[FIELD], u[FIELD], v[FIELD], w[FIELD];

/* Two rows outside of each of six fields are mirrored. */
static void halo(int n)
{
#pragma omp target teams distribute parallel for map(tofrom: p)
    for (int j = 0; j < n; j++) {
        p[ROW + j] = p[2 * ROW + j];
        p[j] = p[3 * ROW + j];
    }
#pragma omp target teams distribute parallel for map(tofrom: q)
    for (int j = 0; j < n; j++) {
        q[ROW + j] = q[2 * ROW + j];
        q[j] = q[3 * ROW + j];
    }
#pragma omp target teams distribute parallel for map(tofrom: r)
    for (int j = 0; j < n; j++) {
        r[ROW + j] = r[2 * ROW + j];
        r[j] = r[3 * ROW + j];
    }
#pragma omp target teams distribute parallel for map(tofrom: u)
    for (int j = 0; j < n; j++) {
        u[ROW + j] = u[2 * ROW + j];
        u[j] = u[3 * ROW + j];
    }
#pragma omp target teams distribute parallel for map(tofrom: v)
    for (int j = 0; j < n; j++) {
        v[ROW + j] = -v[2 * ROW + j];
        v[j] = -v[3 * ROW + j];
    }
#pragma omp target teams distribute parallel for map(tofrom: w)
    for (int j = 0; j < n; j++) {
        w[ROW + j] = w[2 * ROW + j];
        w[j] = w[3 * ROW + j];
    }
}

/* A kernel over the fields, and their halo. */
static void fields(int n)
{
#pragma omp target teams distribute parallel for collapse(2) map(to: r, u, v) map(tofrom: p, q, w)
    for (int i = 2; i < n; i++)
        for (int j = 0; j < n; j++) {
            p[i * ROW + j] += 1e-3 * (v[i * ROW + j] - r[i * ROW + j]);
            q[i * ROW + j] *= 1 - 1e-3 * u[i * ROW + j];
            w[i * ROW + j] += 1e-4 * r[i * ROW + j];
        }
    halo(n);
}

static double checksum(const double *values, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += values[i] * (1 + i % 7);
    return sum;
}

static void fill(double *values, int n, int seed)
{
    for (int i = 0; i < n; i++)
        values[i] = (i * (seed + 3)) % 101 / 101.0;
}

static double least(double best, double seconds, int steps)
{
    double step = seconds * 1e6 / steps;
    return best > 0 && best < step ? best : step;
}

static double time_state(int n, int steps, double *sum)
{
    double *a[5], best = 0;
    for (int k = 0; k < 5; k++) {
        a[k] = malloc(sizeof *a[k] * (size_t)n);
        fill(a[k], n, k);
    }
    double *flux = a[0], *density = a[1], *energy = a[2], *pressure = a[3], *speed = a[4];
#pragma omp target data map(to: flux[0:n]) map(tofrom: density[0:n], energy[0:n], pressure[0:n], speed[0:n])
    for (int t = 0; t < TIMES; t++) {
        double start = omp_get_wtime();
        for (int s = 0; s < steps; s++)
            state(n, 1e-3, flux, density, energy, pressure, speed);
        best = least(best, omp_get_wtime() - start, steps);
    }
    for (int k = 1; k < 5; k++)
        *sum += checksum(a[k], n);
    for (int k = 0; k < 5; k++)
        free(a[k]);
    return best;
}

static double time_fields(void (*step)(int), int steps, double *sum)
{
    double *a[6] = { p, q, r, u, v, w }, best = 0;
    for (int k = 0; k < 6; k++)
        fill(a[k], FIELD, k);
#pragma omp target data map(tofrom: p, q, r, u, v, w)
    for (int t = 0; t < TIMES; t++) {
        double start = omp_get_wtime();
        for (int s = 0; s < steps; s++)
            step(INSIDE);
        best = least(best, omp_get_wtime() - start, steps);
    }
    for (int k = 0; k < 6; k++)
        *sum += checksum(a[k], FIELD);
    return best;
}

int main(void)
{
    double sum = 0, none = 0;
    time_state(1024, 10, &none);
    double small = time_state(1 << 14, 500, &sum), middle = time_state(1 << 18, 500, &sum);
    double large = time_state(1 << 22, 100, &sum);
    double sides = time_fields(halo, 500, &sum), all = time_fields(fields, 500, &sum);
    printf("%.1f,%.1f,%.1f,%.1f,%.1f,%.17g\n", small, middle, large, sides, all, sum);
    return 0;
}
