#include "covar.h"
#include "program.h"

#include <stdlib.h>

// First a team for each feature: its mean, its centring, a copy packed in quads of neighbouring features and the zeros
// of its row of the result, all in one launch. Then a thread computes a tile of 4 x 4 elements in registers by aligned
// loads of four floats, those of neighbouring threads side by side, and adds it on both sides of the diagonal. The
// points are cut into parts, so that there are threads enough; their shares meet in atomic additions.
struct quad {
    _Alignas(16) float v[4];
};

void covar(int points, int features, float *data, float *mean, float *covariance)
{
    int threads = tunable("threads", 64);
    int feature_threads = tunable("feature_threads", 128);
    int part = tunable("part", 128);
    int parts = (points + part - 1) / part;
    int quads = (features + 3) / 4;
    int teams = (parts * quads * quads + threads - 1) / threads;
    int packs = points * quads;
    struct quad *packed = malloc((size_t)packs * sizeof *packed);
#pragma omp target data map(tofrom: data[0:points * features]) map(alloc: packed[0:packs]) \
    map(from: mean[0:features], covariance[0:features * features])
    {
#pragma omp target teams distribute num_teams(features) thread_limit(feature_threads)
        for (int j = 0; j < features; j++) {
            float sum = 0;
#pragma omp parallel for reduction(+ : sum)
            for (int i = 0; i < points; i++)
                sum += data[i * features + j];

            float average = sum / points;
            mean[j] = average;
#pragma omp parallel for firstprivate(j, average, points, features, quads, data, packed)
            for (int i = 0; i < points; i++) {
                float centred = data[i * features + j] - average;
                data[i * features + j] = centred;
                packed[i * quads + j / 4].v[j % 4] = centred;
                // The last feature fills its quad with copies of itself, which no one uses.
                for (int v = j % 4 + 1; j == features - 1 && v < 4; v++)
                    packed[i * quads + j / 4].v[v] = centred;
            }

#pragma omp parallel for firstprivate(j, features, covariance)
            for (int k = 0; k < features; k++)
                covariance[j * features + k] = 0;
        }

#pragma omp target teams distribute parallel for collapse(3) num_teams(teams) thread_limit(threads)
        for (int p = 0; p < parts; p++)
            for (int group = 0; group < quads; group++)
                for (int lane = 0; lane < quads; lane++) {
                    int end = (p + 1) * part < points ? (p + 1) * part : points;
                    if (lane < group)
                        continue;
                    float sum[4][4];
#pragma omp unroll full
                    for (int r = 0; r < 4; r++)
                        for (int q = 0; q < 4; q++)
                            sum[r][q] = 0;
#pragma omp unroll partial(4)
                    for (int i = p * part; i < end; i++) {
                        struct quad left = packed[i * quads + group];
                        struct quad right = packed[i * quads + lane];
                        for (int r = 0; r < 4; r++)
                            for (int q = 0; q < 4; q++)
                                sum[r][q] += left.v[r] * right.v[q];
                    }
#pragma omp unroll full
                    for (int r = 0; r < 4; r++)
#pragma omp unroll full
                        for (int q = 0; q < 4; q++) {
                            int j1 = group * 4 + r;
                            int j2 = lane * 4 + q;
                            if (j1 > j2 || j2 >= features)
                                continue;
                            float share = sum[r][q] / (points - 1);
#pragma omp atomic
                            covariance[j1 * features + j2] += share;
                            if (j1 < j2) {
#pragma omp atomic
                                covariance[j2 * features + j1] += share;
                            }
                        }
                }
    }
    free(packed);
}
