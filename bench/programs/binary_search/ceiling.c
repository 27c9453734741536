#include "binary_search.h"
#include "program.h"

// The numbers go to the device once; of each round only the part travels that was found. One thread a part.
void binary_search(int n, int parts, const int *sorted, int key, int *place)
{
    int threads = tunable("threads", 32);
    int teams = (parts + threads - 1) / threads;
    int low = 0, end = n;
    *place = -1;
#pragma omp target data map(to: sorted[0:n])
    while (low < end) {
        int part = (end - low + parts - 1) / parts;
        int found = -1;
#pragma omp target teams distribute parallel for num_teams(teams) thread_limit(threads) map(tofrom: found)
        for (int p = 0; p < parts; p++) {
            int first = low + p * part;
            int last = first + part < end ? first + part - 1 : end - 1;
            if (first <= last && sorted[first] <= key && key <= sorted[last])
                found = first;
        }
        if (found < 0) {
            end = low;
        } else if (part == 1) {
            *place = found;
            end = low;
        } else {
            low = found;
            end = low + part < end ? low + part : end;
        }
    }
}
