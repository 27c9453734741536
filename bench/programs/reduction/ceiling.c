#include "reduction.h"
#include "program.h"

#include <math.h>
#include <stdlib.h>

// One pass for both results into one partial result a thread, without any reduction across teams; the host adds them.
void reduction(int n, const float *x, double *sum, float *largest)
{
    int threads = tunable("threads", 512);
    int teams = tunable("teams", 528);
    int parts = threads * teams;
    double *sums = malloc(parts * sizeof *sums);
    float *sizes = malloc(parts * sizeof *sizes);
#pragma omp target teams distribute parallel for num_teams(teams) thread_limit(threads) map(to: x[0:n]) \
    map(from: sums[0:parts], sizes[0:parts])
    for (int p = 0; p < parts; p++) {
        double total = 0;
        float most = 0;
        int i = p;
        for (; i + 3 * parts < n; i += 4 * parts) { // four independent loads at a time
            float a = x[i], b = x[i + parts], c = x[i + 2 * parts], d = x[i + 3 * parts];
            total += ((double)a + b) + ((double)c + d);
            most = fmaxf(most, fmaxf(fmaxf(fabsf(a), fabsf(b)), fmaxf(fabsf(c), fabsf(d))));
        }
        for (; i < n; i += parts) {
            total += x[i];
            most = fmaxf(most, fabsf(x[i]));
        }
        sums[p] = total;
        sizes[p] = most;
    }
    double total = 0;
    float most = 0;
    for (int p = 0; p < parts; p++) {
        total += sums[p];
        most = fmaxf(most, sizes[p]);
    }
    *sum = total;
    *largest = most;
    free(sums);
    free(sizes);
}
