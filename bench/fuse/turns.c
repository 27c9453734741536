/* Steps that compute an array from another one and copy it back: rods, images and volumes; and images that each step copies first. Their data stay on the device. Prints the
   microseconds of a step, of fifty: the least of nine runs. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { TIMES = 9, STEPS = 50 };

static void rod(int n, int steps, double *now, double *next)
{
#pragma omp target data map(tofrom: now[0:n], next[0:n])
    for (int t = 0; t < steps; t++) {
#pragma omp target teams distribute parallel for map(tofrom: now[0:n], next[0:n])
        for (int i = 1; i < n - 1; i++)
            next[i] = 0.25 * now[i - 1] + 0.5 * now[i] + 0.25 * now[i + 1];
#pragma omp target teams distribute parallel for map(tofrom: now[0:n], next[0:n])
        for (int i = 1; i < n - 1; i++)
            now[i] = next[i];
    }
}

static void image(int n, int steps, double *now, double *next)
{
#pragma omp target data map(tofrom: now[0:n * n], next[0:n * n])
    for (int t = 0; t < steps; t++) {
#pragma omp target teams distribute parallel for collapse(2) map(tofrom: now[0:n * n], next[0:n * n])
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++)
                next[i * n + j] = 0.25 * (now[(i - 1) * n + j] + now[(i + 1) * n + j] + now[i * n + j - 1] + now[i * n + j + 1]);
#pragma omp target teams distribute parallel for collapse(2) map(tofrom: now[0:n * n], next[0:n * n])
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++)
                now[i * n + j] = next[i * n + j];
    }
}

static void volume(int n, int steps, double *now, double *next)
{
#pragma omp target data map(tofrom: now[0:n * n * n], next[0:n * n * n])
    for (int t = 0; t < steps; t++) {
#pragma omp target teams distribute parallel for collapse(3) map(tofrom: now[0:n * n * n], next[0:n * n * n])
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++)
                for (int k = 1; k < n - 1; k++) {
                    int cell = (i * n + j) * n + k;
                    next[cell] = 0.4 * now[cell] + 0.1 * (now[cell - 1] + now[cell + 1] + now[cell - n] + now[cell + n] +
                                                          now[cell - n * n] + now[cell + n * n]);
                }
#pragma omp target teams distribute parallel for collapse(3) map(tofrom: now[0:n * n * n], next[0:n * n * n])
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++)
                for (int k = 1; k < n - 1; k++)
                    now[(i * n + j) * n + k] = next[(i * n + j) * n + k];
    }
}

static void copied_first(int n, int steps, double *now, double *last)
{
#pragma omp target data map(tofrom: now[0:n * n], last[0:n * n])
    for (int t = 0; t < steps; t++) {
#pragma omp target teams distribute parallel for collapse(2) map(tofrom: now[0:n * n], last[0:n * n])
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                last[i * n + j] = now[i * n + j];
#pragma omp target teams distribute parallel for collapse(2) map(tofrom: now[0:n * n], last[0:n * n])
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++)
                now[i * n + j] = 0.2 * (last[i * n + j] + last[i * n + j - 1] + last[i * n + j + 1] +
                                        last[(i - 1) * n + j] + last[(i + 1) * n + j]);
    }
}

/* The microseconds of one step. */
static double timed(int kind, int n, double *sum)
{
    int elements = kind == 0 ? n : kind == 2 ? n * n * n : n * n;
    double *now = malloc(sizeof *now * (size_t)elements), *next = malloc(sizeof *next * (size_t)elements), best = 0;
    for (int i = 0; i < elements; i++) {
        now[i] = i * 7 % 13;
        next[i] = i % 5;
    }
#pragma omp target data map(tofrom: now[0:elements], next[0:elements])
    for (int t = 0; t < TIMES; t++) {
        double start = omp_get_wtime();
        switch (kind) {
        case 0: rod(n, STEPS, now, next); break;
        case 1: image(n, STEPS, now, next); break;
        case 2: volume(n, STEPS, now, next); break;
        default: copied_first(n, STEPS, now, next);
        }
        double step = (omp_get_wtime() - start) * 1e6 / STEPS;
        best = best > 0 && best < step ? best : step;
    }
    for (int i = 0; i < elements; i++)
        *sum += now[i] * (1 + i % 7) + next[i];
    free(now), free(next);
    return best;
}

int main(void)
{
    double sum = 0;
    timed(0, 1000, &sum);
    printf("%.1f,%.1f,%.1f,", timed(0, 1000, &sum), timed(0, 1000000, &sum), timed(0, 16000000, &sum));
    printf("%.1f,%.1f,%.1f,", timed(1, 256, &sum), timed(1, 1024, &sum), timed(1, 4096, &sum));
    printf("%.1f,%.1f,%.1f,", timed(2, 32, &sum), timed(2, 128, &sum), timed(2, 256, &sum));
    printf("%.1f,%.1f,%.1f,", timed(3, 256, &sum), timed(3, 1024, &sum), timed(3, 4096, &sum));
    printf("%.17g\n", sum);
    return 0;
}
