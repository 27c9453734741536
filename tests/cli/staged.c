// Copies of many sizes to the x86_64 offload device and back through the buffers of `ompsplit_pin.h`, by one thread and by eight.
#include <stdio.h>
#include <stdlib.h>

#include "ompsplit_pin.h"

static int is_right(size_t size)
{
    unsigned char *a = malloc(size);
    size_t wrong = 0, i, third = size / 3;
    for (i = 0; i < size; i++)
        a[i] = (unsigned char)(i * 7 + i / 251 + size);
#pragma omp target data map(alloc: a[0:size])
    {
        ompsplit_to_device(a, third);
        ompsplit_to_device(a + third, size - third);
#pragma omp target map(tofrom: a[0:size])
        for (size_t j = 0; j < size; j++)
            a[j] ^= 85;
        for (i = 0; i < size; i++)
            a[i] = 0;
        ompsplit_from_device(a, size - third);
        ompsplit_from_device(a + size - third, third);
    }
    for (i = 0; i < size; i++)
        wrong += a[i] != (85 ^ (unsigned char)(i * 7 + i / 251 + size));
    free(a);
    return !wrong;
}

int main(void)
{
    static const size_t sizes[] = {1, 2, 1000, 393216, 393217, 786432, 786435, 6291456, 6291459, 12582912, 15000001};
    enum { COUNT = sizeof sizes / sizeof *sizes };
    int count = 0, i;
    for (i = 0; i < COUNT; i++)
        count += is_right(sizes[i]);
#pragma omp parallel for num_threads(8) reduction(+: count)
    for (i = 0; i < COUNT; i++)
        count += is_right(sizes[i]);
    printf("%d of %d are right\n", count, 2 * COUNT);
    return 0;
}
