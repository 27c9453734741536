// A part of the device's clock: the memory of the device, which is saved before a launch is made again, and restored before each one. What was
// allocated is known as the functions by which programs get memory stand here before the driver's.

static const size_t ALIGNMENT = 512;

// Memory of the device: what was allocated, and the variables of modules.
static struct region {
    device_pointer at;
    size_t bytes;
    handle context, module;
} *regions;
static size_t region_count, region_room;
// Memory was seen that cannot be saved.
static const char *unsaved;

static void keep_region(device_pointer at, size_t bytes, handle module)
{
    read_plans();
    if (!plan_count || !bytes)
        return;
    handle context = NULL;
    if (has_api())
        api.current(&context);
    pthread_mutex_lock(&lock);
    int is_known = 0;
    for (size_t i = 0; i < region_count; i++)
        is_known |= regions[i].at == at && regions[i].module == module;
    if (!is_known && region_count == region_room) {
        size_t room = region_room ? 2 * region_room : 64;
        void *more = realloc(regions, room * sizeof *regions);
        if (more) {
            regions = more;
            region_room = room;
        }
    }
    if (region_count == region_room)
        unsaved = "the host has no memory left";
    else if (!is_known)
        regions[region_count++] = (struct region){at, bytes, context, module};
    pthread_mutex_unlock(&lock);
}

// Forgets what was allocated at an address, or the variables of a module.
static void forget_regions(device_pointer at, handle module)
{
    pthread_mutex_lock(&lock);
    for (size_t i = region_count; i-- > 0;)
        if (module ? regions[i].module == module : regions[i].at == at && !regions[i].module)
            regions[i] = regions[--region_count];
    pthread_mutex_unlock(&lock);
}

static size_t aligned(size_t bytes) { return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT; }

static size_t bytes_of(handle context)
{
    size_t all = 0;
    for (size_t i = 0; i < region_count; i++)
        if (regions[i].context == context)
            all += aligned(regions[i].bytes);
    return all;
}

// Copies all memory of a context to the spare place, or back.
static int copy_regions(handle context, device_pointer spare, int is_back, handle stream)
{
    int status = 0;
    for (size_t i = 0; i < region_count && !status; i++) {
        const struct region *one = &regions[i];
        if (one->context != context)
            continue;
        status = api.copy(is_back ? one->at : spare, is_back ? spare : one->at, one->bytes, stream);
        spare += aligned(one->bytes);
    }
    return status;
}

// Functions of the driver by which programs get memory.

// Begins a function that has a name of the driver's: `real` is the driver's own.
#define STANDS_FOR(name, types)                                                                                        \
    static int(*real) types;                                                                                           \
    if (!real)                                                                                                         \
        real = (int(*) types)driver(#name);                                                                            \
    if (!real)                                                                                                         \
        return MISSING

#define ALLOCATES(name, types, arguments, kept)                                                                        \
    int name types                                                                                                     \
    {                                                                                                                  \
        STANDS_FOR(name, types);                                                                                       \
        int status = real arguments;                                                                                   \
        if (!status)                                                                                                   \
            kept;                                                                                                      \
        return status;                                                                                                 \
    }

ALLOCATES(cuMemAlloc_v2, (device_pointer * at, size_t bytes), (at, bytes), keep_region(*at, bytes, NULL))
ALLOCATES(cuMemAllocAsync, (device_pointer * at, size_t bytes, handle stream), (at, bytes, stream),
          keep_region(*at, bytes, NULL))
ALLOCATES(cuMemAllocPitch_v2, (device_pointer * at, size_t *pitch, size_t width, size_t height, unsigned element),
          (at, pitch, width, height, element), keep_region(*at, *pitch *height, NULL))
ALLOCATES(cuMemAllocManaged, (device_pointer * at, size_t bytes, unsigned flags), (at, bytes, flags),
          unsaved = "the program has managed memory")
ALLOCATES(cuMemCreate, (handle * made, size_t bytes, const void *properties, unsigned long long flags),
          (made, bytes, properties, flags), unsaved = "the program maps memory of the device by itself")
ALLOCATES(cuMemAllocHost_v2, (void **at, size_t bytes), (at, bytes), unsaved = "the program has memory of the host mapped")
// Without this flag the memory is locked for copies, and only who asks for its address on the device uses it there.
#define DEVICE_MAPPED 2
ALLOCATES(cuMemHostAlloc, (void **at, size_t bytes, unsigned flags), (at, bytes, flags),
          if (flags & DEVICE_MAPPED) unsaved = "the program has memory of the host mapped")
ALLOCATES(cuMemHostRegister_v2, (void *at, size_t bytes, unsigned flags), (at, bytes, flags),
          if (flags & DEVICE_MAPPED) unsaved = "the program has memory of the host mapped")
ALLOCATES(cuMemHostGetDevicePointer_v2, (device_pointer * at, void *host, unsigned flags), (at, host, flags),
          unsaved = "the program has memory of the host mapped")

// The environment of a kernel does not change, and what begins so belongs to a runtime that the host talks with.
static int is_variable(const char *name)
{
    return !strstr(name, "_kernel_environment") && strncmp(name, "__llvm", 6);
}

ALLOCATES(cuModuleGetGlobal_v2, (device_pointer * at, size_t *bytes, handle module, const char *name),
          (at, bytes, module, name), if (at && bytes && is_variable(name)) keep_region(*at, *bytes, module))

// The address may be another one's at once, on another thread: it is forgotten before.
#define RELEASES(name, types, arguments)                                                                               \
    int name types                                                                                                     \
    {                                                                                                                  \
        STANDS_FOR(name, types);                                                                                       \
        forget_regions(at, NULL);                                                                                      \
        return real arguments;                                                                                         \
    }

RELEASES(cuMemFree_v2, (device_pointer at), (at))
RELEASES(cuMemFreeAsync, (device_pointer at, handle stream), (at, stream))

// Copies that are not timed wait while a launch is replayed.
#define WAITS(name, types, arguments)                                                                                  \
    int name types                                                                                                     \
    {                                                                                                                  \
        STANDS_FOR(name, types);                                                                                       \
        pthread_mutex_lock(&lock);                                                                                     \
        int status = real arguments;                                                                                   \
        pthread_mutex_unlock(&lock);                                                                                   \
        return status;                                                                                                 \
    }

WAITS(cuMemcpyDtoDAsync_v2, (device_pointer to, device_pointer from, size_t bytes, handle stream),
      (to, from, bytes, stream))
WAITS(cuMemcpyPeerAsync,
      (device_pointer to, handle context, device_pointer from, handle other, size_t bytes, handle stream),
      (to, context, from, other, bytes, stream))
WAITS(cuMemcpyHtoD_v2, (device_pointer to, const void *from, size_t bytes), (to, from, bytes))
WAITS(cuMemcpyDtoH_v2, (void *to, device_pointer from, size_t bytes), (to, from, bytes))
