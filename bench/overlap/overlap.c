// Times one form of the block in BLOCK for one size after the other.
//
// usage: overlap calibrate                   how many steps of the kernels take as long as a pageable copy of 1 MiB of the array, and a half more
//        overlap STEPS_PER_MIB LARGEST_MIB   a line for each size: MiB, least and median milliseconds, those of the block alone, the sum of the results
//
// The time is that of allocating and freeing the array, with PINNED of page-locking and unlocking it, and of the block: what the paper
// measures. The array is filled in between. Of each size one run comes first and does not count.
#include "ompsplit_pin.h"
#include BLOCK
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The elements of the other array: threads for the whole GPU.
enum { M = 1 << 19, RUNS = 3, MOST_MIB = 1024 };

static float a[M];

static int by_size(const void *one, const void *other)
{
    double x = *(const double *)one, y = *(const double *)other;
    return (x > y) - (x < y);
}

static void fill_other(void)
{
    for (long i = 0; i < M; i++)
        a[i] = (float)(i % 64);
}

// Milliseconds of one run; `inside` gets those of the block.
static double timed(long n, long steps, double *inside, double *sum)
{
    fill_other();
    double start = omp_get_wtime();
    double *c = malloc(n * sizeof *c);
    double spent = omp_get_wtime() - start;
    if (!c) {
        fprintf(stderr, "no memory for %ld elements\n", n);
        exit(1);
    }
    for (long i = 0; i < n; i++)
        c[i] = (double)(i % 1000);
    start = omp_get_wtime();
#ifdef PINNED
    ompsplit_pin(c, n * sizeof *c);
#endif
    double before = omp_get_wtime();
    block(n, c, M, a, steps, 0.5f);
    *inside = (omp_get_wtime() - before) * 1e3;
#ifdef PINNED
    ompsplit_unpin(c);
#endif
    spent += omp_get_wtime() - start;
    *sum = 0;
    for (long i = 0; i < n; i++) {
        if (c[i] != (double)(i % 1000) * 2 + 1) {
            fprintf(stderr, "element %ld of %ld is %g\n", i, n, c[i]);
            exit(1);
        }
    }
    for (long i = 0; i < M; i++)
        *sum += a[i];
    start = omp_get_wtime();
    free(c);
    spent += omp_get_wtime() - start;
    return spent * 1e3;
}

// Milliseconds of a block with hardly any array to copy.
static double of_kernels(long steps)
{
    double least = 1e30, inside, sum;
    for (int run = 0; run < 4; run++) {
        (void)timed(64, steps, &inside, &sum);
        least = inside < least ? inside : least;
    }
    return least;
}

// 1 MiB at 5 GB/s, and a half more, in each of both kernels. The fixed part of a block is left out.
static long calibrated(void)
{
    const double wanted = 1.5 * (1 << 20) / 5e9 * 1e3 * 2;
    long few = 64, many = 4096;
    (void)of_kernels(few);
    const double short_ms = of_kernels(few);
    double long_ms;
    while ((long_ms = of_kernels(many)) < short_ms + 4 * wanted && many < 1L << 24)
        many *= 2;
    const double each = (long_ms - short_ms) / (double)(many - few);
    return (long)(wanted / each) + 1;
}

int main(int count, char **words)
{
    if (count == 2 && strcmp(words[1], "calibrate") == 0) {
        printf("%ld\n", calibrated());
        return 0;
    }
    if (count != 3) {
        fprintf(stderr, "usage: overlap calibrate | overlap STEPS_PER_MIB LARGEST_MIB\n");
        return 2;
    }
    const long steps = atol(words[1]), largest = atol(words[2]);
    for (long mib = 2; mib <= largest && mib <= MOST_MIB; mib *= 4) {
        const long n = mib * (1 << 20) / (long)sizeof(double);
        double all[RUNS], inside[RUNS], sum;
        (void)timed(n, steps * mib, inside, &sum);
        for (int run = 0; run < RUNS; run++)
            all[run] = timed(n, steps * mib, &inside[run], &sum);
        qsort(all, RUNS, sizeof *all, by_size);
        qsort(inside, RUNS, sizeof *inside, by_size);
        printf("%ld,%.3f,%.3f,%.3f,%.0f\n", mib, all[0], all[RUNS / 2], inside[RUNS / 2], sum);
        fflush(stdout);
    }
    return 0;
}
