// Stands before the CUDA driver as `libcuda.so`: libomptarget opens it by that name and finds every function that is not
// defined here in the driver itself, on which this library depends at run time. Each kernel and each copy gets one event
// before and one after it in its own stream, so that its time is the device's, without the host's launch cost. When the
// program ends, a file in the folder OMPSPLIT_CLOCK has a line for each kernel: its launches, its milliseconds, blocks and
// threads of the last launch, its name; one line for all copies; and what `device_replay.c` measured.
//
// The driver's own header is not needed: only these few functions are called, whose types are stable. Where events fail, the
// file says so, and nothing is measured: a program must not end by its clock.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef void *handle;
typedef unsigned long long device_pointer;

enum { MOST_KERNELS = 4096, MOST_PENDING = 1024, COPIES = -1, NONE = -2 };

struct plan;
static struct kernel {
    handle function, module;
    char *name;
    // How it is replayed, if it is, and why not.
    struct plan *plan;
    int is_judged;
    const char *mode_refusal;
    long launches;
    double milliseconds;
    unsigned grid[2];
} kernels[MOST_KERNELS];
static int kernel_count;

// Operations whose time is not read yet. Their events are used again.
static struct pending {
    handle before, after;
    int kernel;
} pending[MOST_PENDING];
static int pending_count;

static long copies;
static double copy_milliseconds;
static int broken;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *driver(const char *name)
{
    static void *library;
    if (!library)
        library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    return library ? dlsym(library, name) : NULL;
}

#define DRIVER(name, result, ...)                                                                                      \
    static result (*real)(__VA_ARGS__);                                                                                \
    if (!real)                                                                                                         \
    real = (result(*)(__VA_ARGS__))driver(name)

#define MISSING 500 // CUDA_ERROR_NOT_FOUND

// An event in the context of a stream, on any thread: also on one that launches without a current context of its own.
static int make_event(handle *event, handle stream)
{
    DRIVER("cuEventCreate", int, handle *, unsigned);
    static int (*context_of)(handle, handle *);
    static int (*push)(handle);
    static int (*pop)(handle *);
    if (!push) {
        context_of = (int (*)(handle, handle *))driver("cuStreamGetCtx");
        pop = (int (*)(handle *))driver("cuCtxPopCurrent_v2");
        push = (int (*)(handle))driver("cuCtxPushCurrent_v2");
    }
    if (!real || !context_of || !push || !pop)
        return MISSING;
    handle context = NULL, popped = NULL;
    int status = context_of(stream, &context);
    if (!status)
        status = push(context);
    if (status)
        return status;
    status = real(event, 0);
    int restored = pop(&popped);
    return status ? status : restored;
}

static int record_event(handle event, handle stream)
{
    DRIVER("cuEventRecord", int, handle, handle);
    return real ? real(event, stream) : MISSING;
}

static void free_event(handle event)
{
    DRIVER("cuEventDestroy_v2", int, handle);
    if (real)
        real(event);
}

static void count(const struct pending *one)
{
    static int (*elapsed)(float *, handle, handle);
    if (!elapsed)
        elapsed = (int (*)(float *, handle, handle))driver("cuEventElapsedTime");
    float milliseconds = 0;
    if (!elapsed || elapsed(&milliseconds, one->before, one->after)) {
        broken = 1;
    } else if (one->kernel == COPIES) {
        copies++;
        copy_milliseconds += milliseconds;
    } else {
        kernels[one->kernel].launches++;
        kernels[one->kernel].milliseconds += milliseconds;
    }
}

// Reads the times of operations that are done; waits for all of them where `wait` says so.
static void drain(int wait)
{
    static int (*query)(handle);
    static int (*synchronize)(handle);
    if (!query) {
        synchronize = (int (*)(handle))driver("cuEventSynchronize");
        query = (int (*)(handle))driver("cuEventQuery");
    }
    if (!query || !synchronize) {
        broken = 1;
        return;
    }
    int left = 0;
    for (int i = 0; i < pending_count; i++) {
        struct pending one = pending[i];
        int status = wait ? synchronize(one.after) : query(one.after);
        if (!status) {
            count(&one);
        } else if (wait) {
            broken = 1;
        } else {
            // What is not done yet moves to the front; its events change places with those of one that is.
            pending[i] = pending[left];
            pending[left++] = one;
        }
    }
    pending_count = left;
}

// A place for an operation that is about to be enqueued in the current context; NONE where it cannot be timed.
static int begin(int kernel, handle stream)
{
    if (broken || kernel == NONE)
        return NONE;
    if (pending_count == MOST_PENDING)
        drain(1);
    struct pending *one = &pending[pending_count];
    if (!one->before && (make_event(&one->before, stream) || make_event(&one->after, stream))) {
        broken = 1;
        return NONE;
    }
    one->kernel = kernel;
    if (record_event(one->before, stream)) {
        broken = 1;
        return NONE;
    }
    return pending_count++;
}

static int end(int place, handle stream, int status)
{
    if (place != NONE && record_event(pending[place].after, stream))
        broken = 1;
    if (status && place != NONE)
        broken = 1;
    return status;
}

static int kernel_of(handle function)
{
    for (int i = kernel_count - 1; i >= 0; i--)
        if (kernels[i].function == function)
            return i;
    return NONE;
}

#include "device_replay.c"

int cuModuleGetFunction(handle *function, handle module, const char *name)
{
    DRIVER("cuModuleGetFunction", int, handle *, handle, const char *);
    if (!real)
        return MISSING;
    int status = real(function, module, name);
    pthread_mutex_lock(&lock);
    if (!status && kernel_of(*function) == NONE) {
        if (kernel_count == MOST_KERNELS) {
            broken = 1;
        } else {
            kernels[kernel_count++] = (struct kernel){.function = *function, .module = module, .name = strdup(name)};
        }
    }
    pthread_mutex_unlock(&lock);
    return status;
}

int cuLaunchKernel(handle function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                   unsigned block_y, unsigned block_z, unsigned shared_bytes, handle stream, void **arguments,
                   void **extra)
{
    DRIVER("cuLaunchKernel", int, handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, handle,
           void **, void **);
    if (!real)
        return MISSING;
    pthread_mutex_lock(&lock);
    int kernel = kernel_of(function);
    struct launch it = {function, {grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared_bytes, stream,
                        arguments, extra};
    if (kernel != NONE) {
        choose_grid(&kernels[kernel], &it);
        kernels[kernel].grid[0] = it.grid[0];
        kernels[kernel].grid[1] = it.block[0];
    }
    int place = begin(kernel, stream);
    int status = end(place, stream,
                     real(function, it.grid[0], grid_y, grid_z, it.block[0], block_y, block_z, shared_bytes, stream,
                          arguments, extra));
    pthread_mutex_unlock(&lock);
    return status;
}

int cuMemcpyHtoDAsync_v2(device_pointer to, const void *from, size_t bytes, handle stream)
{
    DRIVER("cuMemcpyHtoDAsync_v2", int, device_pointer, const void *, size_t, handle);
    if (!real)
        return MISSING;
    pthread_mutex_lock(&lock);
    int place = begin(COPIES, stream);
    int status = end(place, stream, real(to, from, bytes, stream));
    pthread_mutex_unlock(&lock);
    return status;
}

int cuMemcpyDtoHAsync_v2(void *to, device_pointer from, size_t bytes, handle stream)
{
    DRIVER("cuMemcpyDtoHAsync_v2", int, void *, device_pointer, size_t, handle);
    if (!real)
        return MISSING;
    pthread_mutex_lock(&lock);
    int place = begin(COPIES, stream);
    int status = end(place, stream, real(to, from, bytes, stream));
    pthread_mutex_unlock(&lock);
    return status;
}

// The runtime waits for its streams here, so that nothing is left to be read when the program ends.
int cuStreamSynchronize(handle stream)
{
    DRIVER("cuStreamSynchronize", int, handle);
    if (!real)
        return MISSING;
    int status = real(stream);
    pthread_mutex_lock(&lock);
    drain(0);
    pthread_mutex_unlock(&lock);
    return status;
}

// The last chance: the events go with the context.
static void finish(void)
{
    pthread_mutex_lock(&lock);
    if (pending_count)
        drain(1);
    pthread_mutex_unlock(&lock);
}

int cuModuleUnload(handle module)
{
    DRIVER("cuModuleUnload", int, handle);
    finish();
    forget_regions(0, module);
    return real ? real(module) : MISSING;
}

int cuDevicePrimaryCtxRelease_v2(int device)
{
    DRIVER("cuDevicePrimaryCtxRelease_v2", int, int);
    finish();
    return real ? real(device) : MISSING;
}

int cuDevicePrimaryCtxRelease(int device)
{
    DRIVER("cuDevicePrimaryCtxRelease", int, int);
    finish();
    return real ? real(device) : MISSING;
}

__attribute__((destructor)) static void write_times(void)
{
    const char *folder = getenv("OMPSPLIT_CLOCK");
    if (!folder || !kernel_count)
        return;
    char path[4096];
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    if (snprintf(path, sizeof path, "%s/%s.%ld", folder, host, (long)getpid()) >= (int)sizeof path)
        return;
    FILE *file = fopen(path, "w");
    if (!file)
        return;
    if (broken || pending_count)
        fprintf(file, "broken\n");
    fprintf(file, "copies %ld %.6f\n", copies, copy_milliseconds);
    for (int i = 0; i < kernel_count; i++)
        if (kernels[i].launches)
            fprintf(file, "kernel %ld %.6f %u %u %s\n", kernels[i].launches, kernels[i].milliseconds,
                    kernels[i].grid[0], kernels[i].grid[1], kernels[i].name);
    write_replays(file);
    fclose(file);
}
