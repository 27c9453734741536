// All shortest paths of a directed graph by Floyd and Warshall's method (as in Pannotia and the AMD samples).
#include "floyd_warshall.h"
#include "program.h"

enum { LONGEST = 1000, EDGES = 25 }; // a node has edges to about EDGES others

static int n;
static int *edges, *distance, *expected;

static void allocate(const long *sizes)
{
    n = (int)sizes[0];
    edges = new_ints((size_t)n * n);
    distance = new_ints((size_t)n * n);
    expected = new_ints((size_t)n * n);
}

static void prepare(void)
{
    int kept = n < EDGES ? n : EDGES; // of n numbers, those below make an edge
    fill_ints(edges, (size_t)n * n, 0, n * LONGEST - 1);
#pragma omp parallel for
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            size_t index = (size_t)i * n + j;
            int number = edges[index];
            edges[index] = i == j ? 0 : number / LONGEST < kept ? 1 + number % LONGEST : NO_PATH;
            distance[index] = edges[index];
        }
}

static void run(void) { floyd_warshall(n, distance); }

// The same method on the host. Row k stays as it is in step k.
static void check(void)
{
#pragma omp parallel
    {
#pragma omp for
        for (int i = 0; i < n * n; i++)
            expected[i] = edges[i];
        for (int k = 0; k < n; k++) {
            const int *restrict from_k = expected + (size_t)k * n;
#pragma omp for
            for (int i = 0; i < n; i++) {
                int *restrict row = expected + (size_t)i * n;
                int to_k = row[k];
                if (i == k || to_k == NO_PATH)
                    continue;
                for (int j = 0; j < n; j++) {
                    int through = to_k + from_k[j];
                    row[j] = through < row[j] ? through : row[j];
                }
            }
        }
    }
    check_ints("distance", distance, expected, (size_t)n * n);
}

static struct work work(void)
{
    double matrix = 4.0 * n * n;
    return (struct work){ // the operations are an addition and a comparison of ints
        .bytes_in = matrix, .bytes_out = matrix, .device_bytes = 2 * matrix, .operations = 2.0 * n * n * n};
}

const struct program program = {"floyd_warshall", "n", allocate, prepare, run, check, work};
