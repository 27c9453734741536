#include "binary_search.h"

void binary_search(int n, int parts, const int *sorted, int key, int *place)
{
    int low = 0, end = n;
    *place = -1;
    while (low < end) {
        int part = (end - low + parts - 1) / parts;
        int found[1] = {-1};
#pragma omp target map(to: sorted[0:n]) map(tofrom: found)
#pragma omp parallel for
        for (int p = 0; p < parts; p++) {
            int first = low + p * part;
            int last = first + part < end ? first + part - 1 : end - 1;
            if (first <= last && sorted[first] <= key && key <= sorted[last])
                found[0] = first;
        }
        if (found[0] < 0)
            return;
        if (part == 1) {
            *place = found[0];
            return;
        }
        low = found[0];
        end = low + part < end ? low + part : end;
    }
}
