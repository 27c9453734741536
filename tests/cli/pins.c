// usage: pins WHAT   does what a program may do with `ompsplit_pin.h`; the driver prints what comes of it
#include "ompsplit_pin.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif
int other_unit(const void *start, size_t bytes); // in another file, which has its own copies of the functions
#ifdef __cplusplus
}
#endif

#ifdef OTHER_UNIT
int other_unit(const void *start, size_t bytes)
{
    return bytes ? ompsplit_pin(start, bytes) : ompsplit_unpin(start);
}
#else

static char memory[4096];

static void pin(size_t start, size_t bytes)
{
    printf("pin %zu: %d\n", bytes, ompsplit_pin(memory + start, bytes));
}

static void unpin(size_t start)
{
    printf("unpin: %d\n", ompsplit_unpin(memory + start));
}

static void *many(void *mine)
{
    int i;
    for (i = 0; i < 500; i++) {
        if (ompsplit_pin(memory, 100) || ompsplit_pin(mine, 64) || ompsplit_pin(memory + 50, 100))
            printf("a pin failed\n");
        if (ompsplit_unpin(memory) || ompsplit_unpin(memory + 50) || ompsplit_unpin(mine))
            printf("an unpin failed\n");
    }
    return NULL;
}

static void threads(void)
{
    pthread_t ids[4];
    size_t i;
    for (i = 0; i < 4; i++)
        (void)pthread_create(&ids[i], NULL, many, memory + 1024 + 64 * i);
    for (i = 0; i < 4; i++)
        (void)pthread_join(ids[i], NULL);
}

// A caller that has a context of its own, that of device 1.
static void own_context(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW), *symbol, *own = NULL, *after = NULL;
    int (*retain)(void **, int), (*push)(void *), (*current)(void **);
    symbol = dlsym(library, "cuDevicePrimaryCtxRetain"), memcpy(&retain, &symbol, sizeof symbol);
    symbol = dlsym(library, "cuCtxPushCurrent_v2"), memcpy(&push, &symbol, sizeof symbol);
    symbol = dlsym(library, "cuCtxGetCurrent"), memcpy(&current, &symbol, sizeof symbol);
    if (retain(&own, 1) || push(own))
        printf("no context\n");
    pin(0, 100);
    unpin(0);
    printf("context: %s\n", current(&after) == 0 && after == own ? "the same" : "another");
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    if (strcmp(what, "once") == 0) {
        pin(0, 100);
        unpin(0);
    } else if (strcmp(what, "twice") == 0) {
        pin(0, 100), pin(0, 100);
        unpin(0), unpin(0), unpin(0);
    } else if (strcmp(what, "inside") == 0) {
        pin(0, 1000), pin(100, 50);
        unpin(0), unpin(100);
    } else if (strcmp(what, "overlapping") == 0) {
        pin(0, 100), pin(50, 100);
        unpin(0), unpin(50);
    } else if (strcmp(what, "over three") == 0) {
        pin(0, 10), pin(20, 10), pin(40, 10), pin(60, 10), pin(5, 40);
        unpin(5), unpin(40), unpin(20), unpin(0), unpin(60);
    } else if (strcmp(what, "beside") == 0) {
        pin(0, 100), pin(100, 100);
        unpin(0), unpin(100);
    } else if (strcmp(what, "nothing") == 0) {
        pin(0, 100), pin(0, 0);
        unpin(0), printf("still pinned\n"), unpin(0);
        printf("null: %d %d\n", ompsplit_pin(NULL, 100), ompsplit_unpin(NULL));
    } else if (strcmp(what, "smaller and larger") == 0) {
        pin(0, 100), pin(0, 200);
        unpin(0), printf("still pinned\n"), unpin(0);
    } else if (strcmp(what, "units") == 0) {
        pin(0, 100);
        printf("there: %d\n", other_unit(memory, 100));
        unpin(0), printf("still pinned\n");
        printf("there: %d\n", other_unit(memory, 0));
    } else if (strcmp(what, "threads") == 0) {
        threads();
    } else if (strcmp(what, "own context") == 0) {
        own_context();
    }
    return 0;
}
#endif
