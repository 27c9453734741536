// Stands for NVIDIA's driver, `libcuda.so.1`: its clock is a number that each kernel sets forward by what its argument says. With PROGRAM
// it is a program that launches one kernel for each construct of src/a.c, as LLVM's runtime names them, through whatever `libcuda.so` is.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef PROGRAM
typedef double *event;
enum { NOT_READY = 600 };
static double now;
static int asked;

int cuModuleGetFunction(void **function, void *module, const char *name)
{
    (void)module;
    *function = strdup(name);
    return 0;
}

int cuLaunchKernel(void *function, unsigned x, unsigned y, unsigned z, unsigned bx, unsigned by, unsigned bz,
                   unsigned bytes, void *stream, void **arguments, void **extra)
{
    (void)function, (void)x, (void)y, (void)z, (void)bx, (void)by, (void)bz, (void)bytes, (void)stream, (void)extra;
    now += *(double *)arguments[0];
    return 0;
}

int cuMemcpyHtoDAsync_v2(unsigned long long to, const void *from, size_t bytes, void *stream)
{
    (void)to, (void)from, (void)stream;
    now += 1e-6 * (double)bytes;
    return 0;
}

int cuEventCreate(event *made, unsigned flags)
{
    (void)flags;
    *made = malloc(sizeof **made);
    return 0;
}

int cuEventRecord(event at, void *stream)
{
    (void)stream;
    *at = now;
    return 0;
}

// What is done is not always known at once.
int cuEventQuery(event at) { return (void)at, ++asked % 3 ? 0 : NOT_READY; }
int cuEventSynchronize(event at) { return (void)at, 0; }

int cuEventElapsedTime(float *milliseconds, event before, event after)
{
    *milliseconds = (float)(*after - *before);
    return 0;
}

int cuStreamGetCtx(void *stream, void **context) { return *context = stream, 0; }
int cuCtxPushCurrent_v2(void *context) { return (void)context, 0; }
int cuCtxPopCurrent_v2(void **context) { return *context = NULL, 0; }
int cuStreamSynchronize(void *stream) { return (void)stream, 0; }
int cuModuleUnload(void *module) { return (void)module, 0; }

#else
static int (*function_of)(void **, void *, const char *);
static int (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **,
                     void **);

static int is_faulty(void) { return getenv("FAKE") && !strcmp(getenv("FAKE"), "faulty"); }

static int number_in(const char *directive, const char *clause)
{
    const char *at = strstr(directive, clause);
    return at ? atoi(at + strlen(clause)) : 0;
}

// The first kernel is fastest with 64 threads, the others with 128.
static double milliseconds(int kernel, int threads)
{
    int best = kernel ? 128 : 64;
    double ratio = threads ? (threads > best ? (double)threads / best : (double)best / threads) : 20;
    return 1 + ratio;
}

int main(int count, char **arguments)
{
    int size = count > 1 ? atoi(arguments[1]) : 1000;
    void *library = dlopen("libcuda.so", RTLD_NOW);
    if (!library)
        return fprintf(stderr, "%s\n", dlerror()), 3;
    *(void **)&function_of = dlsym(library, "cuModuleGetFunction");
    *(void **)&launch = dlsym(library, "cuLaunchKernel");
    int (*copy)(unsigned long long, const void *, size_t, void *);
    int (*wait)(void *);
    int (*unload)(void *);
    *(void **)&copy = dlsym(library, "cuMemcpyHtoDAsync_v2");
    *(void **)&wait = dlsym(library, "cuStreamSynchronize");
    *(void **)&unload = dlsym(library, "cuModuleUnload");
    struct stat file;
    if (stat("src/a.c", &file))
        return 4;
    FILE *source = fopen("src/a.c", "r");
    char line[4096];
    int kernel = 0;
    for (int number = 1; fgets(line, sizeof line, source); number++) {
        if (!strstr(line, "#pragma omp target"))
            continue;
        char directive[8192];
        strcpy(directive, line);
        int first = number;
        while (directive[strlen(directive) - 2] == '\\' && fgets(line, sizeof line, source)) {
            strcat(directive, line);
            number++;
        }
        int threads = number_in(directive, "thread_limit(");
        if (threads == 512 && is_faulty()) {
            printf("wrong\n");
            return 0;
        }
        if (threads == 32 && !kernel && is_faulty())
            sleep(1000);
        char name[256];
        snprintf(name, sizeof name, "__omp_offloading_%x_%x_f%d_l%d", (unsigned)file.st_dev, (unsigned)file.st_ino,
                 kernel, first);
        double time = milliseconds(kernel++, threads) * (size < 500 ? 500 : size) / 1000;
        void *function, *parameters[] = {&time};
        int stream;
        function_of(&function, NULL, name);
        copy(0, NULL, 1000, &stream);
        launch(function, 100, 1, 1, threads ? threads : 128, 1, 1, 0, &stream, parameters, NULL);
        wait(&stream);
    }
    unload(NULL);
    printf("right\n");
    return 0;
}
#endif
