#include "program.h"
#include "sobel.h"

// One launch for both loops: the strength of a pixel stays in a register. Neighbouring threads take neighbouring
// columns; each walks down a few rows and keeps what it needs of the last two rows, so that a row costs three reads.
void sobel(int rows, int columns, int threshold, const int *image, int *strength, int *edges)
{
    (void)strength;
    int threads = tunable("threads", 256);
    int part = tunable("rows", 16);
    int parts = (rows + part - 1) / part;
    int teams = (parts * columns + threads - 1) / threads;
#pragma omp target teams distribute parallel for collapse(2) num_teams(teams) thread_limit(threads) \
    map(to: image[0:rows * columns]) map(from: edges[0:rows * columns])
    for (int p = 0; p < parts; p++)
        for (int j = 0; j < columns; j++) {
            int first = p * part;
            int end = rows - first < part ? rows : first + part;
            int left = j > 0 ? j - 1 : j;
            int right = j < columns - 1 ? j + 1 : j;
            // Of each row: the difference across the column and the weighted sum around it.
            const int *row = image + (first > 0 ? first - 1 : 0) * columns;
            int difference_above = row[right] - row[left];
            int sum_above = row[left] + 2 * row[j] + row[right];
            row = image + first * columns;
            int difference = row[right] - row[left];
            int sum = row[left] + 2 * row[j] + row[right];
            for (int i = first; i < end; i++) {
                int difference_below = difference;
                int sum_below = sum;
                if (i < rows - 1) {
                    row = image + (i + 1) * columns;
                    difference_below = row[right] - row[left];
                    sum_below = row[left] + 2 * row[j] + row[right];
                }
                int gx = difference_above + 2 * difference + difference_below;
                int gy = sum_below - sum_above;
                int value = (gx < 0 ? -gx : gx) + (gy < 0 ? -gy : gy);
                edges[i * columns + j] = (value < threshold ? value : threshold) * 255 / threshold;
                difference_above = difference;
                difference = difference_below;
                sum_above = sum;
                sum = sum_below;
            }
        }
}
