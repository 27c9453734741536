#include "fast_walsh.h"

void fast_walsh(int n, float *values)
{
#pragma omp target map(tofrom: values[0:n])
    for (int step = 1; step < n; step *= 2) {
#pragma omp parallel for
        for (int pair = 0; pair < n / 2; pair++) {
            int first = pair / step * 2 * step + pair % step;
            float a = values[first];
            float b = values[first + step];
            values[first] = a + b;
            values[first + step] = a - b;
        }
    }
}
