/* The sides of a dozen fields, each under a condition of the host. Prints the microseconds of a step: the least of nine runs. */
#include <omp.h>
#include <stdio.h>

enum { ROW = 964, FIELD = ROW * ROW, DEPTH = 2, OUTSIDE = -1, TIMES = 9, STEPS = 500 };

struct chunk {
    int left, right, bottom, top;
};

static double density[FIELD], energy[FIELD], pressure[FIELD], viscosity[FIELD], speed_x[FIELD], speed_y[FIELD], flux_x[FIELD], flux_y[FIELD], mass_x[FIELD], mass_y[FIELD], sound[FIELD], volume[FIELD];

/* The four sides of a field that somebody else holds on the device. */
static void sides_of(const struct chunk *chunk, double *f)
{
    if (chunk->left == OUTSIDE) {
#pragma omp target teams distribute parallel for
        for (int j = DEPTH; j < ROW - DEPTH; j++)
            for (int k = 0; k < DEPTH; k++)
                f[j * ROW + 1 - k] = f[j * ROW + 2 + k];
    }
    if (chunk->right == OUTSIDE) {
#pragma omp target teams distribute parallel for
        for (int j = DEPTH; j < ROW - DEPTH; j++)
            for (int k = 0; k < DEPTH; k++)
                f[j * ROW + ROW - 2 + k] = f[j * ROW + ROW - 3 - k];
    }
    if (chunk->bottom == OUTSIDE) {
#pragma omp target teams distribute parallel for
        for (int i = 0; i < ROW; i++)
            for (int k = 0; k < DEPTH; k++)
                f[(1 - k) * ROW + i] = f[(2 + k) * ROW + i];
    }
    if (chunk->top == OUTSIDE) {
#pragma omp target teams distribute parallel for
        for (int i = 0; i < ROW; i++)
            for (int k = 0; k < DEPTH; k++)
                f[(ROW - 2 + k) * ROW + i] = f[(ROW - 3 - k) * ROW + i];
    }
}

static void by_field(const struct chunk *chunk)
{
    sides_of(chunk, density);
    sides_of(chunk, energy);
    sides_of(chunk, pressure);
    sides_of(chunk, viscosity);
    sides_of(chunk, speed_x);
    sides_of(chunk, speed_y);
    sides_of(chunk, flux_x);
    sides_of(chunk, flux_y);
    sides_of(chunk, mass_x);
    sides_of(chunk, mass_y);
    sides_of(chunk, sound);
    sides_of(chunk, volume);
}

/* One side of all fields after the other. */
static void by_side(const struct chunk *chunk)
{
    if (chunk->left == OUTSIDE) {
#pragma omp target teams distribute parallel for map(tofrom: density)
        for (int j = DEPTH; j < ROW - DEPTH; j++)
            for (int k = 0; k < DEPTH; k++)
                density[j * ROW + 1 - k] = density[j * ROW + 2 + k];
    }
    if (chunk->left == OUTSIDE) {
#pragma omp target teams distribute parallel for map(tofrom: energy)
        for (int j = DEPTH; j < ROW - DEPTH; j++)
            for (int k = 0; k < DEPTH; k++)
                energy[j * ROW + 1 - k] = energy[j * ROW + 2 + k];
    }
    if (chunk->left == OUTSIDE) {
#pragma omp target teams distribute parallel for map(tofrom: pressure)
        for (int j = DEPTH; j < ROW - DEPTH; j++)
            for (int k = 0; k < DEPTH; k++)
                pressure[j * ROW + 1 - k] = pressure[j * ROW + 2 + k];
    }
    if (chunk->left == OUTSIDE) {
#pragma omp target teams distribute parallel for map(tofrom: viscosity)
        for (int j = DEPTH; j < ROW - DEPTH; j++)
            for (int k = 0; k < DEPTH; k++)
                viscosity[j * ROW + 1 - k] = viscosity[j * ROW + 2 + k];
    }
    if (chunk->left == OUTSIDE) {
#pragma omp target teams distribute parallel for map(tofrom: speed_x)
        for (int j = DEPTH; j < ROW - DEPTH; j++)
            for (int k = 0; k < DEPTH; k++)
                speed_x[j * ROW + 1 - k] = speed_x[j * ROW + 2 + k];
    }
    if (chunk->left == OUTSIDE) {
#pragma omp target teams distribute parallel for map(tofrom: speed_y)
        for (int j = DEPTH; j < ROW - DEPTH; j++)
            for (int k = 0; k < DEPTH; k++)
                speed_y[j * ROW + 1 - k] = speed_y[j * ROW + 2 + k];
    }
    if (chunk->left == OUTSIDE) {
#pragma omp target teams distribute parallel for map(tofrom: flux_x)
        for (int j = DEPTH; j < ROW - DEPTH; j++)
            for (int k = 0; k < DEPTH; k++)
                flux_x[j * ROW + 1 - k] = flux_x[j * ROW + 2 + k];
    }
    if (chunk->left == OUTSIDE) {
#pragma omp target teams distribute parallel for map(tofrom: flux_y)
        for (int j = DEPTH; j < ROW - DEPTH; j++)
            for (int k = 0; k < DEPTH; k++)
                flux_y[j * ROW + 1 - k] = flux_y[j * ROW + 2 + k];
    }
    if (chunk->left == OUTSIDE) {
#pragma omp target teams distribute parallel for map(tofrom: mass_x)
        for (int j = DEPTH; j < ROW - DEPTH; j++)
            for (int k = 0; k < DEPTH; k++)
                mass_x[j * ROW + 1 - k] = mass_x[j * ROW + 2 + k];
    }
    if (chunk->left == OUTSIDE) {
#pragma omp target teams distribute parallel for map(tofrom: mass_y)
        for (int j = DEPTH; j < ROW - DEPTH; j++)
            for (int k = 0; k < DEPTH; k++)
                mass_y[j * ROW + 1 - k] = mass_y[j * ROW + 2 + k];
    }
    if (chunk->left == OUTSIDE) {
#pragma omp target teams distribute parallel for map(tofrom: sound)
        for (int j = DEPTH; j < ROW - DEPTH; j++)
            for (int k = 0; k < DEPTH; k++)
                sound[j * ROW + 1 - k] = sound[j * ROW + 2 + k];
    }
    if (chunk->left == OUTSIDE) {
#pragma omp target teams distribute parallel for map(tofrom: volume)
        for (int j = DEPTH; j < ROW - DEPTH; j++)
            for (int k = 0; k < DEPTH; k++)
                volume[j * ROW + 1 - k] = volume[j * ROW + 2 + k];
    }
    if (chunk->top == OUTSIDE) {
#pragma omp target teams distribute parallel for map(tofrom: density)
        for (int i = 0; i < ROW; i++)
            for (int k = 0; k < DEPTH; k++)
                density[(ROW - 2 + k) * ROW + i] = density[(ROW - 3 - k) * ROW + i];
    }
    if (chunk->top == OUTSIDE) {
#pragma omp target teams distribute parallel for map(tofrom: energy)
        for (int i = 0; i < ROW; i++)
            for (int k = 0; k < DEPTH; k++)
                energy[(ROW - 2 + k) * ROW + i] = energy[(ROW - 3 - k) * ROW + i];
    }
    if (chunk->top == OUTSIDE) {
#pragma omp target teams distribute parallel for map(tofrom: pressure)
        for (int i = 0; i < ROW; i++)
            for (int k = 0; k < DEPTH; k++)
                pressure[(ROW - 2 + k) * ROW + i] = pressure[(ROW - 3 - k) * ROW + i];
    }
    if (chunk->top == OUTSIDE) {
#pragma omp target teams distribute parallel for map(tofrom: viscosity)
        for (int i = 0; i < ROW; i++)
            for (int k = 0; k < DEPTH; k++)
                viscosity[(ROW - 2 + k) * ROW + i] = viscosity[(ROW - 3 - k) * ROW + i];
    }
    if (chunk->top == OUTSIDE) {
#pragma omp target teams distribute parallel for map(tofrom: speed_x)
        for (int i = 0; i < ROW; i++)
            for (int k = 0; k < DEPTH; k++)
                speed_x[(ROW - 2 + k) * ROW + i] = speed_x[(ROW - 3 - k) * ROW + i];
    }
    if (chunk->top == OUTSIDE) {
#pragma omp target teams distribute parallel for map(tofrom: speed_y)
        for (int i = 0; i < ROW; i++)
            for (int k = 0; k < DEPTH; k++)
                speed_y[(ROW - 2 + k) * ROW + i] = speed_y[(ROW - 3 - k) * ROW + i];
    }
    if (chunk->top == OUTSIDE) {
#pragma omp target teams distribute parallel for map(tofrom: flux_x)
        for (int i = 0; i < ROW; i++)
            for (int k = 0; k < DEPTH; k++)
                flux_x[(ROW - 2 + k) * ROW + i] = flux_x[(ROW - 3 - k) * ROW + i];
    }
    if (chunk->top == OUTSIDE) {
#pragma omp target teams distribute parallel for map(tofrom: flux_y)
        for (int i = 0; i < ROW; i++)
            for (int k = 0; k < DEPTH; k++)
                flux_y[(ROW - 2 + k) * ROW + i] = flux_y[(ROW - 3 - k) * ROW + i];
    }
    if (chunk->top == OUTSIDE) {
#pragma omp target teams distribute parallel for map(tofrom: mass_x)
        for (int i = 0; i < ROW; i++)
            for (int k = 0; k < DEPTH; k++)
                mass_x[(ROW - 2 + k) * ROW + i] = mass_x[(ROW - 3 - k) * ROW + i];
    }
    if (chunk->top == OUTSIDE) {
#pragma omp target teams distribute parallel for map(tofrom: mass_y)
        for (int i = 0; i < ROW; i++)
            for (int k = 0; k < DEPTH; k++)
                mass_y[(ROW - 2 + k) * ROW + i] = mass_y[(ROW - 3 - k) * ROW + i];
    }
    if (chunk->top == OUTSIDE) {
#pragma omp target teams distribute parallel for map(tofrom: sound)
        for (int i = 0; i < ROW; i++)
            for (int k = 0; k < DEPTH; k++)
                sound[(ROW - 2 + k) * ROW + i] = sound[(ROW - 3 - k) * ROW + i];
    }
    if (chunk->top == OUTSIDE) {
#pragma omp target teams distribute parallel for map(tofrom: volume)
        for (int i = 0; i < ROW; i++)
            for (int k = 0; k < DEPTH; k++)
                volume[(ROW - 2 + k) * ROW + i] = volume[(ROW - 3 - k) * ROW + i];
    }
}

static double step(void (*sides)(const struct chunk *), const struct chunk *chunk, double *sum)
{
    double *all[] = { density, energy, pressure, viscosity, speed_x, speed_y, flux_x, flux_y, mass_x, mass_y, sound, volume };
    double best = 0;
    for (int k = 0; k < 12; k++)
        for (int i = 0; i < FIELD; i++)
            all[k][i] = (i * (k + 3)) % 101 / 101.0;
#pragma omp target data map(tofrom: density, energy, pressure, viscosity, speed_x, speed_y, flux_x, flux_y, mass_x, mass_y, sound, volume)
    for (int t = 0; t < TIMES; t++) {
        double start = omp_get_wtime();
        for (int s = 0; s < STEPS; s++)
            sides(chunk);
        double took = (omp_get_wtime() - start) * 1e6 / STEPS;
        best = t > 0 && best < took ? best : took;
    }
    for (int k = 0; k < 12; k++)
        for (int i = 0; i < FIELD; i++)
            *sum += all[k][i] * (1 + i % 7);
    return best;
}

int main(void)
{
    const struct chunk outside = { OUTSIDE, OUTSIDE, OUTSIDE, OUTSIDE }, corner = { OUTSIDE, 0, 0, OUTSIDE };
    double sum = 0;
    double fields = step(by_field, &outside, &sum), some = step(by_field, &corner, &sum);
    double sides = step(by_side, &outside, &sum), left = step(by_side, &corner, &sum);
    printf("%.1f,%.1f,%.1f,%.1f,%.17g\n", fields, some, sides, left, sum);
    return 0;
}
