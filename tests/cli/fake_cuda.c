// Stands for NVIDIA's driver, `libcuda.so.1`: its clock is a number that each kernel sets forward by what its argument says, or where that is
// negative by its threads. Each kernel also counts its launches in memory of the device. With PROGRAM it is a program that launches one
// kernel for each construct of src/a.c, as LLVM's runtime names them, through whatever `libcuda.so` is; what it prints is right if each was
// launched once as far as the memory tells.
//
// FAKE names what is not as usual: `faulty` kernels, `generic` ones, `managed` memory, a device that is `forgetful` when memory is restored,
// `full`, `capturing` launches, memory of the host that is mapped in one of four ways (`host-..`), or not (`locked`), or made by the program
// (`create`), or given back in order (`async`), a `variable` of a module, or `misleading` about kernels whose grid is open, whose launches may also be `slow`; of `uneven` devices the second takes longer.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int is_fake(const char *what) { return getenv("FAKE") && !strcmp(getenv("FAKE"), what); }

// The first kernel is fastest with 64 threads, the others with 128.
static double milliseconds(int kernel, int threads)
{
    int best = kernel ? 128 : 64;
    double ratio = threads ? (threads > best ? (double)threads / best : (double)best / threads) : 20;
    return 1 + ratio;
}

struct arguments {
    double milliseconds;
    int kernel;
    long *launches;
};

#ifndef PROGRAM
typedef double *event;
typedef unsigned long long address;
enum { NOT_READY = 600, INVALID = 1 };
static double now;
static int asked;

// A variable of the program on the device: all kernels count in it.
static long variable;

int cuModuleGetFunction(void **function, void *module, const char *name)
{
    (void)module;
    *function = strdup(name);
    return 0;
}

int cuLaunchKernel(void *function, unsigned x, unsigned y, unsigned z, unsigned bx, unsigned by, unsigned bz,
                   unsigned bytes, void *stream, void **arguments, void **extra)
{
    (void)function, (void)y, (void)z, (void)by, (void)bz, (void)bytes, (void)stream, (void)extra;
    const struct arguments *own = arguments[0];
    const char *device = getenv("CUDA_VISIBLE_DEVICES");
    double pace = is_fake("uneven") && device && !strcmp(device, "1") ? 1.5 : 1;
    if (bx > 512 || !x)
        return INVALID;
    if (own->milliseconds >= 0)
        now += pace * own->milliseconds;
    else
        now += is_fake("misleading") ? 600 - (double)bx : milliseconds(own->kernel, (int)bx);
    if (own->milliseconds < 0 && is_fake("slow"))
        usleep(70000);
    ++*own->launches;
    ++variable;
    return 0;
}

static long context;
int cuCtxGetCurrent(void **current) { return *current = &context, 0; }
int cuCtxSynchronize(void) { return 0; }
int cuStreamIsCapturing(void *stream, int *captures)
{
    (void)stream;
    *captures = is_fake("capturing");
    return 0;
}
int cuMemFree_v2(address at) { return free((void *)at), 0; }

int cuMemAlloc_v2(address *at, size_t bytes)
{
    static int count;
    // The first one is the program's.
    if (count++ && is_fake("full"))
        return 2;
    *at = (address)calloc(1, bytes);
    return 0;
}

int cuMemAllocAsync(address *at, size_t bytes, void *stream) { return (void)stream, cuMemAlloc_v2(at, bytes); }
int cuMemFreeAsync(address at, void *stream) { return (void)stream, cuMemFree_v2(at); }
int cuMemHostAlloc(void **at, size_t bytes, unsigned flags) { return (void)flags, *at = calloc(1, bytes), 0; }
int cuMemAllocHost_v2(void **at, size_t bytes) { return *at = calloc(1, bytes), 0; }
int cuMemHostRegister_v2(void *at, size_t bytes, unsigned flags) { return (void)at, (void)bytes, (void)flags, 0; }
int cuMemHostGetDevicePointer_v2(address *at, void *host, unsigned flags) { return (void)flags, *at = (address)host, 0; }

int cuMemCreate(unsigned long long *made, size_t bytes, const void *properties, unsigned long long flags)
{
    (void)bytes, (void)properties, (void)flags;
    return *made = 1, 0;
}

int cuMemAllocManaged(address *at, size_t bytes, unsigned flags) { return (void)flags, cuMemAlloc_v2(at, bytes); }

int cuMemcpyDtoDAsync_v2(address to, address from, size_t bytes, void *stream)
{
    (void)stream;
    static int count;
    if (!(count++ && is_fake("forgetful")))
        memcpy((void *)to, (void *)from, bytes);
    return 0;
}

int cuMemcpyDtoH_v2(void *to, address from, size_t bytes) { return memcpy(to, (void *)from, bytes), 0; }

int cuFuncGetAttribute(int *value, int attribute, void *function)
{
    (void)function;
    return attribute ? INVALID : (*value = 512, 0);
}

int cuModuleGetGlobal_v2(address *at, size_t *bytes, void *module, const char *name)
{
    (void)module;
    static unsigned char environment[48];
    environment[2] = is_fake("generic") ? 1 : 2;
    if (!strcmp(name, "variable")) {
        *at = (address)&variable;
        *bytes = sizeof variable;
        return 0;
    }
    *at = (address)environment;
    *bytes = sizeof environment;
    return strstr(name, "_kernel_environment") ? 0 : 500;
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

int cuEventDestroy_v2(event at) { return free(at), 0; }
int cuStreamGetCtx(void *stream, void **of) { return (void)stream, *of = &context, 0; }
int cuCtxPushCurrent_v2(void *pushed) { return (void)pushed, 0; }
int cuCtxPopCurrent_v2(void **popped) { return *popped = &context, 0; }
int cuStreamSynchronize(void *stream) { return (void)stream, 0; }
int cuModuleUnload(void *module) { return (void)module, 0; }

#else
static int (*function_of)(void **, void *, const char *);
static int (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **,
                     void **);

static int number_in(const char *directive, const char *clause)
{
    const char *at = strstr(directive, clause);
    return at ? atoi(at + strlen(clause)) : 0;
}

// Does with memory what FAKE names: kernels that are launched again must not notice, or not be.
static long *use_memory(void *library)
{
    static long host[8];
    void *made;
    unsigned long long at, again;
    size_t bytes;
    int (*host_alloc)(void **, size_t, unsigned), (*alloc_host)(void **, size_t), (*enlist)(void *, size_t, unsigned);
    int (*host_pointer)(unsigned long long *, void *, unsigned);
    int (*create)(unsigned long long *, size_t, const void *, unsigned long long);
    int (*global)(unsigned long long *, size_t *, void *, const char *);
    int (*allocate)(unsigned long long *, size_t, void *), (*release)(unsigned long long, void *);
    *(void **)&host_alloc = dlsym(library, "cuMemHostAlloc");
    *(void **)&alloc_host = dlsym(library, "cuMemAllocHost_v2");
    *(void **)&enlist = dlsym(library, "cuMemHostRegister_v2");
    *(void **)&host_pointer = dlsym(library, "cuMemHostGetDevicePointer_v2");
    *(void **)&create = dlsym(library, "cuMemCreate");
    *(void **)&global = dlsym(library, "cuModuleGetGlobal_v2");
    *(void **)&allocate = dlsym(library, "cuMemAllocAsync");
    *(void **)&release = dlsym(library, "cuMemFreeAsync");
    if (is_fake("host-alloc"))
        host_alloc(&made, 8, 2);
    if (is_fake("host-old"))
        alloc_host(&made, 8);
    if (is_fake("host-register"))
        enlist(host, sizeof host, 2);
    if (is_fake("host-pointer"))
        host_pointer(&at, host, 0);
    if (is_fake("locked")) {
        host_alloc(&made, 8, 0);
        enlist(host, sizeof host, 0);
    }
    if (is_fake("create"))
        create(&at, 8, NULL, 0);
    if (is_fake("async")) {
        // What was given back is not there to be saved.
        allocate(&at, 1 << 20, NULL);
        release(at, NULL);
        allocate(&again, 8, NULL);
    }
    if (!is_fake("variable"))
        return NULL;
    global(&at, &bytes, NULL, "variable");
    return bytes == sizeof(long) ? (long *)at : NULL;
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
    int (*allocate)(unsigned long long *, size_t);
    int (*manage)(unsigned long long *, size_t, unsigned);
    *(void **)&allocate = dlsym(library, "cuMemAlloc_v2");
    *(void **)&manage = dlsym(library, "cuMemAllocManaged");
    *(void **)&copy = dlsym(library, "cuMemcpyHtoDAsync_v2");
    *(void **)&wait = dlsym(library, "cuStreamSynchronize");
    *(void **)&unload = dlsym(library, "cuModuleUnload");
    unsigned long long memory, more;
    allocate(&memory, sizeof(long[64]));
    if (is_fake("managed"))
        manage(&more, 8, 1);
    const long *variable = use_memory(library);
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
        if (threads == 512 && is_fake("faulty")) {
            printf("wrong\n");
            return 0;
        }
        if (threads == 32 && !kernel && is_fake("faulty"))
            sleep(1000);
        char name[256];
        snprintf(name, sizeof name, "__omp_offloading_%x_%x_f%d_l%d", (unsigned)file.st_dev, (unsigned)file.st_ino,
                 kernel, first);
        // What is no number is a grid that is open: one team for each iteration.
        int is_open = strstr(directive, "thread_limit(__builtin") != NULL;
        struct arguments own = {-1, kernel, (long *)memory + kernel};
        if (!is_open)
            own.milliseconds = milliseconds(kernel, threads) * (size < 500 ? 500 : size) / 1000;
        kernel++;
        void *function, *parameters[] = {&own};
        int stream;
        function_of(&function, NULL, name);
        copy(0, NULL, 1000, &stream);
        launch(function, is_open ? size : 100, 1, 1, is_open ? 512 : threads ? threads : 128, 1, 1, 0, &stream,
               parameters, NULL);
        wait(&stream);
    }
    int is_right = 1;
    for (int i = 0; i < kernel; i++)
        is_right &= ((long *)memory)[i] == 1;
    if (is_fake("variable"))
        is_right &= variable && *variable == kernel;
    unload(NULL);
    printf(is_right ? "right\n" : "wrong\n");
    return 0;
}
#endif
