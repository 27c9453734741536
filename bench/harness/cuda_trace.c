// Stands before the CUDA driver as `libcuda.so`: libomptarget opens it by that name and finds every function that is
// not defined here in the driver itself, on which this library depends at run time. Between `device_trace_begin` and
// `device_trace_end` each kernel and each copy gets one event before and one after it in its own stream, so that its
// time is the device's, without the host's launch cost. Otherwise the calls are passed on untouched.
//
// The driver's own header is not needed: only these few functions are called, whose types are stable.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

typedef void *handle;
typedef unsigned long long device_pointer;

enum kind { KERNEL, TO_DEVICE, FROM_DEVICE };
enum { MOST_RECORDS = 1 << 16 };

static struct {
    handle before, after;
    enum kind kind;
    size_t bytes;
} records[MOST_RECORDS];
static atomic_int record_count;
static atomic_int tracing;
static handle context; // the one that libomptarget uses
static unsigned last_grid[2]; // blocks and threads of the last kernel

static void *driver(const char *name)
{
    static void *library;
    if (!library)
        library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    void *function = library ? dlsym(library, name) : NULL;
    if (!function) {
        fprintf(stderr, "cuda_trace: the CUDA driver has no %s\n", name);
        abort();
    }
    return function;
}

#define DRIVER(name, result, ...)                                                                                      \
    static result (*real)(__VA_ARGS__);                                                                                \
    if (!real)                                                                                                         \
    real = (result(*)(__VA_ARGS__))driver(name)

static void demand(int status)
{
    if (status) {
        fprintf(stderr, "cuda_trace: error %d of the CUDA driver\n", status);
        abort();
    }
}

// Makes an event on any thread, also on one that launches without a current context of its own.
static handle make_event(void)
{
    DRIVER("cuEventCreate", int, handle *, unsigned);
    static int (*push)(handle);
    static int (*pop)(handle *);
    if (!push) {
        pop = (int (*)(handle *))driver("cuCtxPopCurrent_v2");
        push = (int (*)(handle))driver("cuCtxPushCurrent_v2");
    }
    handle event, popped;
    demand(push(context));
    demand(real(&event, 0));
    demand(pop(&popped));
    return event;
}

static void record_event(handle event, handle stream)
{
    DRIVER("cuEventRecord", int, handle, handle);
    demand(real(event, stream));
}

// A record for the operation that is about to be enqueued, or -1 where none is wanted.
static int open_record(enum kind kind, size_t bytes, handle stream)
{
    if (!atomic_load(&tracing))
        return -1;
    int index = atomic_fetch_add(&record_count, 1);
    if (index >= MOST_RECORDS)
        return -1;
    if (!records[index].before) {
        records[index].before = make_event();
        records[index].after = make_event();
    }
    records[index].kind = kind;
    records[index].bytes = bytes;
    record_event(records[index].before, stream);
    return index;
}

static int close_record(int index, handle stream, int status)
{
    if (index >= 0)
        record_event(records[index].after, stream);
    return status;
}

int cuLaunchKernel(handle function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                   unsigned block_y, unsigned block_z, unsigned shared_bytes, handle stream, void **arguments,
                   void **extra)
{
    DRIVER("cuLaunchKernel", int, handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, handle,
           void **, void **);
    last_grid[0] = grid_x;
    last_grid[1] = block_x;
    int record = open_record(KERNEL, 0, stream);
    return close_record(record, stream,
                        real(function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes, stream,
                             arguments, extra));
}

int cuMemcpyHtoDAsync_v2(device_pointer to, const void *from, size_t bytes, handle stream)
{
    DRIVER("cuMemcpyHtoDAsync_v2", int, device_pointer, const void *, size_t, handle);
    int record = open_record(TO_DEVICE, bytes, stream);
    return close_record(record, stream, real(to, from, bytes, stream));
}

int cuMemcpyDtoHAsync_v2(void *to, device_pointer from, size_t bytes, handle stream)
{
    DRIVER("cuMemcpyDtoHAsync_v2", int, void *, device_pointer, size_t, handle);
    int record = open_record(FROM_DEVICE, bytes, stream);
    return close_record(record, stream, real(to, from, bytes, stream));
}

// Blocks and threads of the last kernel that was launched.
void device_trace_last_grid(unsigned grid[2])
{
    grid[0] = last_grid[0];
    grid[1] = last_grid[1];
}

void device_trace_begin(void)
{
    if (!context) {
        DRIVER("cuDevicePrimaryCtxRetain", int, handle *, int);
        demand(real(&context, 0));
    }
    atomic_store(&record_count, 0);
    atomic_store(&tracing, 1);
}

// Fills sums with: milliseconds and number of kernels; milliseconds, bytes and number of copies to the device; the same
// three from the device. Operations that ran at the same time each count in full.
void device_trace_end(double sums[8])
{
    atomic_store(&tracing, 0);
    int count = atomic_load(&record_count);
    if (count > MOST_RECORDS) {
        fprintf(stderr, "cuda_trace: %d operations are more than the %d that can be recorded\n", count, MOST_RECORDS);
        abort();
    }
    static int (*synchronize)(handle);
    static int (*elapsed)(float *, handle, handle);
    if (!synchronize) {
        synchronize = (int (*)(handle))driver("cuEventSynchronize");
        elapsed = (int (*)(float *, handle, handle))driver("cuEventElapsedTime");
    }
    for (int i = 0; i < 8; i++)
        sums[i] = 0;
    for (int i = 0; i < count; i++) {
        float milliseconds = 0;
        demand(synchronize(records[i].after));
        demand(elapsed(&milliseconds, records[i].before, records[i].after));
        double *sum = records[i].kind == KERNEL ? sums : records[i].kind == TO_DEVICE ? sums + 2 : sums + 5;
        sum[0] += milliseconds;
        if (records[i].kind != KERNEL)
            *++sum += (double)records[i].bytes;
        sum[1] += 1;
    }
}

// After `device_trace_end`: the kind of operation `index` and when it began and ended, in milliseconds after the first
// one began. 0 where there is no such operation.
int device_trace_operation(int index, double values[3])
{
    static int (*elapsed)(float *, handle, handle);
    if (!elapsed)
        elapsed = (int (*)(float *, handle, handle))driver("cuEventElapsedTime");
    if (index < 0 || index >= atomic_load(&record_count))
        return 0;
    float begin = 0, end = 0;
    demand(elapsed(&begin, records[0].before, records[index].before));
    demand(elapsed(&end, records[0].before, records[index].after));
    values[0] = records[index].kind;
    values[1] = begin;
    values[2] = end;
    return 1;
}
