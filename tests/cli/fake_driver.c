// Stands for a driver: `libcuda.so.1`, or with FAKE_HIP `libamdhip64.so`. It answers as the drivers do, prints the calls
// that matter, and fails where the variable FAKE says so.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { INVALID_VALUE = 1, NO_DEVICE = 100, INVALID_CONTEXT = 201, ALREADY_REGISTERED = 712, NOT_REGISTERED = 713 };
enum { MOST_RANGES = 64 };

static struct { const char *start; size_t bytes; } ranges[MOST_RANGES];
static int range_count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int says(const char *what)
{
    const char *fake = getenv("FAKE");
    return fake && strcmp(fake, what) == 0;
}

static int add(const char *start, size_t bytes, unsigned flags)
{
    printf("driver: register %zu, flags %u\n", bytes, flags);
    if (says("foreign"))
        return ALREADY_REGISTERED;
    if (says("full") || (says("full at 150") && bytes == 150))
        return 2;
    if (says("allocated") || (says("read only") && !(flags & 8)))
        return INVALID_VALUE;
    for (int i = 0; i < range_count; i++)
        if (start < ranges[i].start + ranges[i].bytes && ranges[i].start < start + bytes)
            return ALREADY_REGISTERED;
    if (!start || !bytes || range_count == MOST_RANGES)
        return INVALID_VALUE;
    ranges[range_count].start = start;
    ranges[range_count++].bytes = bytes;
    return 0;
}

static int drop(const char *start)
{
    for (int i = 0; i < range_count; i++) {
        if (ranges[i].start == start) {
            printf("driver: unregister %zu\n", ranges[i].bytes);
            ranges[i] = ranges[--range_count];
            return 0;
        }
    }
    printf("driver: unregister what is not registered\n");
    return NOT_REGISTERED;
}

#define LOCKED(call)                                                                                                   \
    pthread_mutex_lock(&lock);                                                                                         \
    int status = call;                                                                                                 \
    pthread_mutex_unlock(&lock);                                                                                       \
    return status

#ifdef FAKE_HIP

int hipInit(unsigned flags) { return (int)flags; }
int hipGetDeviceCount(int *count) { return *count = 1, 0; }
int hipHostRegister(void *start, size_t bytes, unsigned flags) { LOCKED(add(start, bytes, flags)); }
int hipHostUnregister(void *start) { LOCKED(drop(start)); }

#else

// The contexts of a thread; the primary contexts of devices 0 and 1 are numbers.
static _Thread_local struct { char *contexts[8]; int depth; } stack;
static char primary[2];
static int retained[2];

int cuInit(unsigned flags) { return says("no device") ? NO_DEVICE : (int)flags; }
int cuDeviceGetCount(int *count) { return *count = 2, 0; }
int cuDeviceGet(int *device, int ordinal) { return *device = ordinal, 0; }
int cuDevicePrimaryCtxGetState(int device, unsigned *flags, int *active)
{
    *flags = 0;
    *active = retained[device] > 0 || (says("second in use") && device == 1);
    return 0;
}
int cuDevicePrimaryCtxRetain(void **context, int device)
{
    printf("driver: retain %d\n", device);
    if (says("no context"))
        return 2;
    __sync_fetch_and_add(&retained[device], 1);
    *context = &primary[device];
    return 0;
}
int cuDevicePrimaryCtxRelease_v2(int device)
{
    printf("driver: release %d\n", device);
    return __sync_sub_and_fetch(&retained[device], 1) < 0 ? INVALID_CONTEXT : 0;
}
int cuCtxPushCurrent_v2(void *context) { return stack.contexts[stack.depth++] = context, 0; }
int cuCtxPopCurrent_v2(void **context)
{
    if (!stack.depth)
        return INVALID_CONTEXT;
    *context = stack.contexts[--stack.depth];
    return 0;
}
int cuCtxGetCurrent(void **context) { return *context = stack.depth ? stack.contexts[stack.depth - 1] : NULL, 0; }
int cuCtxGetDevice(int *device)
{
    if (!stack.depth)
        return INVALID_CONTEXT;
    *device = (int)(stack.contexts[stack.depth - 1] - primary);
    return 0;
}
int cuPointerGetAttribute(void *value, int attribute, unsigned long long pointer)
{
    (void)pointer;
    // The memory of the x86_64 device is taken for that of device 1.
    if (says("device memory") && attribute == 2)
        return *(unsigned *)value = 2, 0;
    if (says("device memory") && attribute == 1)
        return *(void **)value = &primary[1], 0;
    return attribute == 2 && says("allocated") ? 0 : INVALID_VALUE;
}

// A stream, whose copies are made when somebody waits for them: as late as may be.
struct stream {
    struct { char *to; const char *from; size_t bytes; } copies[64];
    int count, done;
};
struct event { struct stream *stream; int count; };
static int copied_to, copied_from;

static int is_in_context(void) { return stack.depth && stack.contexts[stack.depth - 1] == &primary[1]; }
int cuStreamCreate(void **stream, unsigned flags)
{
    return is_in_context() && flags == 1 ? *stream = calloc(1, sizeof(struct stream)), 0 : INVALID_CONTEXT;
}
int cuEventCreate(void **event, unsigned flags)
{
    return is_in_context() && flags == 2 ? *event = calloc(1, sizeof(struct event)), 0 : INVALID_CONTEXT;
}
static int queue(void *to, const void *from, size_t bytes, struct stream *stream)
{
    if (stream->done == stream->count)
        stream->done = stream->count = 0;
    if (!is_in_context() || stream->count == 64)
        return INVALID_CONTEXT;
    stream->copies[stream->count].to = to;
    stream->copies[stream->count].from = from;
    stream->copies[stream->count++].bytes = bytes;
    return 0;
}
static int make(struct stream *stream, int count)
{
    for (; stream->done < count; stream->done++)
        memcpy(stream->copies[stream->done].to, stream->copies[stream->done].from, stream->copies[stream->done].bytes);
    return 0;
}
int cuMemcpyHtoDAsync_v2(unsigned long long to, const void *from, size_t bytes, void *stream)
{
    __sync_fetch_and_add(&copied_to, 1);
    return queue((void *)to, from, bytes, stream);
}
int cuMemcpyDtoHAsync_v2(void *to, unsigned long long from, size_t bytes, void *stream)
{
    __sync_fetch_and_add(&copied_from, 1);
    return queue(to, (const void *)from, bytes, stream);
}
int cuEventRecord(void *event, void *stream)
{
    struct event *recorded = event;
    recorded->stream = stream;
    recorded->count = recorded->stream->count;
    return 0;
}
int cuEventSynchronize(void *event) { return make(((struct event *)event)->stream, ((struct event *)event)->count); }
int cuStreamSynchronize(void *stream) { return make(stream, ((struct stream *)stream)->count); }
__attribute__((destructor)) static void count_copies(void)
{
    if (says("device memory"))
        printf("driver: %d copies to the device, %d from it\n", copied_to, copied_from);
}
int cuMemHostRegister_v2(void *start, size_t bytes, unsigned flags)
{
    if (!stack.depth)
        return INVALID_CONTEXT;
    LOCKED(add(start, bytes, flags));
}
int cuMemHostUnregister(void *start)
{
    if (!stack.depth)
        return INVALID_CONTEXT;
    LOCKED(drop(start));
}

#endif
