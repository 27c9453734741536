#include "lud.h"
#include "program.h"

// The columns one after the other on the host, two launches each in one data environment; the update is collapsed.
static void many_launches(int n, float *a)
{
    int scale_threads = tunable("scale_threads", 32);
    int threads = tunable("threads", 256);
#pragma omp target data map(tofrom: a[0:n * n])
    {
        for (int k = 0; k < n - 1; k++) {
            int rest = n - 1 - k;
            int scale_teams = (rest + scale_threads - 1) / scale_threads;
            int teams = (rest * rest + threads - 1) / threads;
#pragma omp target teams distribute parallel for num_teams(scale_teams) thread_limit(scale_threads)
            for (int i = k + 1; i < n; i++)
                a[i * n + k] /= a[k * n + k];

#pragma omp target teams distribute parallel for collapse(2) num_teams(teams) thread_limit(threads)
            for (int i = k + 1; i < n; i++)
                for (int j = k + 1; j < n; j++)
                    a[i * n + j] -= a[i * n + k] * a[k * n + j];
        }
    }
}

// One team with as many threads as it can have: the barrier after each loop takes the place of a launch.
static void one_team(int n, float *a)
{
    int threads = tunable("team_threads", 1024);
#pragma omp target parallel num_threads(threads) map(tofrom: a[0:n * n])
    {
        for (int k = 0; k < n - 1; k++) {
#pragma omp for schedule(static, 1)
            for (int i = k + 1; i < n; i++)
                a[i * n + k] /= a[k * n + k];

#pragma omp for collapse(2) schedule(static, 1)
            for (int i = k + 1; i < n; i++)
                for (int j = k + 1; j < n; j++)
                    a[i * n + j] -= a[i * n + k] * a[k * n + j];
        }
    }
}

// Small matrices lose more by launches than one team by its size.
void lud(int n, float *a)
{
    if (n <= tunable("team_limit", 512))
        one_team(n, a);
    else
        many_launches(n, a);
}
