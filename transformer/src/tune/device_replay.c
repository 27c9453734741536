// A part of the device's clock (`device_clock.c` includes it): launches a kernel in many grids within one run of the program.
//
// In SPMD mode the grid of a kernel is an argument of its launch and nothing else. The file that OMPSPLIT_REPLAY names tells the lines of
// kernels whose grids are to be tried, and these grids. Such a kernel is launched with one team for each iteration, which tells how many
// there are. Instead it gets an ordinary grid; and some of its first launches are made many times before: the memory of the device is
// saved, each grid is launched and timed in turn, and the memory is restored before each. So the program goes on as if nothing had been.
//
// What cannot be replayed is not: the reason is written beside the times.
#include <time.h>

enum {
    MOST_PLANS = 1024,
    MOST_GRIDS = 64,
    ROUNDS = 3,              // launches of a grid at each launch of the program
    LAST_LAUNCH = 4,         // the launches with the numbers 1, 2, 4 are replayed
    USUAL_THREADS = 128,     // of the launch that counts
    USUAL_TEAMS = 1 << 16,
    UNKNOWN = 0x7fffffff,    // so many teams are asked for where the iterations are not known, or more
    SPMD = 2,                // the mode of a kernel in which all threads start together
    MAX_THREADS_OF_BLOCK = 0 // CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK
};
// A grid that takes so many times as long as the best one is not launched again.
static const double PATIENCE = 1.5;
static const size_t ALIGNMENT = 512;

// Grids that are tried for the kernels of one line.
static struct plan {
    long line;
    char prefix[80];
    unsigned grids[MOST_GRIDS][2]; // threads, and the most teams
    int count;
    long launches;
    double seconds; // spent on it
    int replayed;
    const char *refusal;
} plans[MOST_PLANS];
static int plan_count = -1;
static double budget = 5; // seconds for one kernel

static struct sample {
    int plan, grid;
    long launch;
    double milliseconds;
} *samples;
static size_t sample_count, sample_room;

// Memory of the device: what was allocated, and the variables of modules.
static struct region {
    device_pointer at;
    size_t bytes;
    handle context, module;
} *regions;
static size_t region_count, region_room;
// Memory was seen that cannot be saved.
static const char *unsaved;

struct launch {
    handle function;
    unsigned grid[3], block[3], bytes;
    handle stream;
    void **arguments, **extra;
};

static struct {
    int (*launch)(handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, handle, void **, void **);
    int (*context_of)(handle, handle *);
    int (*current)(handle *);
    int (*push)(handle);
    int (*pop)(handle *);
    int (*finish)(void);
    int (*wait)(handle);
    int (*allocate)(device_pointer *, size_t);
    int (*release)(device_pointer);
    int (*copy)(device_pointer, device_pointer, size_t, handle);
    int (*fetch)(void *, device_pointer, size_t);
    int (*global)(device_pointer *, size_t *, handle, const char *);
    int (*attribute)(int *, int, handle);
    int (*capturing)(handle, int *);
    int (*elapsed)(float *, handle, handle);
} api;

static int has_api(void)
{
    static const struct {
        void *at;
        const char *name;
    } all[] = {
        {&api.launch, "cuLaunchKernel"},          {&api.context_of, "cuStreamGetCtx"},
        {&api.current, "cuCtxGetCurrent"},        {&api.push, "cuCtxPushCurrent_v2"},
        {&api.pop, "cuCtxPopCurrent_v2"},         {&api.finish, "cuCtxSynchronize"},
        {&api.wait, "cuStreamSynchronize"},       {&api.allocate, "cuMemAlloc_v2"},
        {&api.release, "cuMemFree_v2"},           {&api.copy, "cuMemcpyDtoDAsync_v2"},
        {&api.fetch, "cuMemcpyDtoH_v2"},          {&api.global, "cuModuleGetGlobal_v2"},
        {&api.attribute, "cuFuncGetAttribute"},   {&api.capturing, "cuStreamIsCapturing"},
        {&api.elapsed, "cuEventElapsedTime"},
    };
    static int has = -1;
    if (has < 0) {
        has = 1;
        for (size_t i = 0; i < sizeof all / sizeof *all; i++)
            has &= (*(void **)all[i].at = driver(all[i].name)) != NULL;
    }
    return has;
}

static void read_plans(void)
{
    if (plan_count >= 0)
        return;
    plan_count = 0;
    const char *path = getenv("OMPSPLIT_REPLAY");
    FILE *file = path ? fopen(path, "r") : NULL;
    if (!file)
        return;
    char line[256];
    while (fgets(line, sizeof line, file)) {
        struct plan next = {0};
        unsigned threads, teams;
        double seconds;
        if (sscanf(line, "budget %lf", &seconds) == 1) {
            budget = seconds;
        } else if (sscanf(line, "kernel %ld %79s", &next.line, next.prefix) == 2) {
            if (plan_count < MOST_PLANS)
                plans[plan_count++] = next;
        } else if (sscanf(line, "grid %u %u", &threads, &teams) == 2 && plan_count) {
            struct plan *last = &plans[plan_count - 1];
            if (last->count < MOST_GRIDS) {
                last->grids[last->count][0] = threads;
                last->grids[last->count++][1] = teams;
            }
        }
    }
    fclose(file);
}

// The line that ends a kernel's name: `.._l12`, or `.._l12_1` for the second one of a line.
static long line_of(const char *name)
{
    const char *last = strrchr(name, '_');
    if (last && last[1] != 'l')
        while (last > name && *--last != '_')
            ;
    return last && last[0] == '_' && last[1] == 'l' ? atol(last + 2) : -1;
}

static int is_of(const char *name, const char *prefix) { return !strncmp(name, prefix, strlen(prefix)); }

// The length of what tells the file in a kernel's name: `__omp_offloading_fd00_1a2b_`.
static size_t file_part(const char *name)
{
    const char *start = "__omp_offloading_", *end = is_of(name, start) ? strchr(name + strlen(start), '_') : NULL;
    end = end ? strchr(end + 1, '_') : NULL;
    return end ? (size_t)(end - name) + 1 : 0;
}

// Are all kernels of one file, which is not known by that name? Then their lines tell them apart.
static int is_only_file(const char *prefix)
{
    const char *first = NULL;
    for (int i = 0; i < kernel_count; i++) {
        const char *name = kernels[i].name;
        size_t length = name ? file_part(name) : 0;
        if (!length)
            continue;
        if (is_of(name, prefix) || (first && strncmp(first, name, length)))
            return 0;
        first = name;
    }
    return 1;
}

static struct plan *plan_of(const char *name)
{
    read_plans();
    for (int i = 0; i < plan_count; i++)
        if (line_of(name) == plans[i].line && (is_of(name, plans[i].prefix) || is_only_file(plans[i].prefix)))
            return &plans[i];
    return NULL;
}

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

// How LLVM's compiler built a kernel: the first bytes of its environment, which are a struct of the device's runtime.
static const char *mode_refusal(handle module, const char *name)
{
    char symbol[1024];
    unsigned char bytes[24];
    int reduced;
    device_pointer at;
    size_t size;
    if (snprintf(symbol, sizeof symbol, "%s_kernel_environment", name) >= (int)sizeof symbol ||
        api.global(&at, &size, module, symbol) || size < sizeof bytes || api.fetch(bytes, at, sizeof bytes))
        return "how it was built is not known";
    memcpy(&reduced, bytes + 20, sizeof reduced);
    if (bytes[2] != SPMD)
        return "its threads do not start together (generic mode)";
    if (bytes[1])
        return "it has a parallel region in another one";
    return reduced ? "it combines values of all teams" : NULL;
}

static unsigned teams_for(unsigned iterations, unsigned threads, unsigned most)
{
    unsigned teams = (iterations - 1) / threads + 1;
    return teams < most ? teams : most ? most : 1;
}

static int launch_in(const struct launch *it, unsigned teams, unsigned threads)
{
    return api.launch(it->function, teams, 1, 1, threads, 1, 1, it->bytes, it->stream, it->arguments, it->extra);
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void keep_sample(struct plan *plan, int grid, double milliseconds)
{
    if (sample_count == sample_room) {
        size_t room = sample_room ? 2 * sample_room : 256;
        void *more = realloc(samples, room * sizeof *samples);
        if (!more)
            return;
        samples = more;
        sample_room = room;
    }
    samples[sample_count++] = (struct sample){(int)(plan - plans), grid, plan->launches, milliseconds};
}

// What is needed while one launch is replayed.
struct replay {
    struct plan *plan;
    const struct launch *launch;
    unsigned most_threads;
    handle context, before, after;
    device_pointer spare;
    double best[MOST_GRIDS];   // milliseconds; negative where a grid cannot be launched
    int like[MOST_GRIDS];      // an earlier grid that comes to the same teams and threads, or itself
};

static int find_alike(struct replay *it)
{
    int different = 0;
    unsigned iterations = it->launch->grid[0];
    for (int i = 0; i < it->plan->count; i++) {
        unsigned *grid = it->plan->grids[i];
        it->like[i] = i;
        it->best[i] = grid[0] && grid[0] <= it->most_threads ? 0 : -1;
        for (int j = 0; j < i && it->like[i] == i && it->best[i] >= 0; j++) {
            unsigned *other = it->plan->grids[j];
            if (grid[0] == other[0] && teams_for(iterations, grid[0], grid[1]) == teams_for(iterations, other[0], other[1]))
                it->like[i] = it->like[j];
        }
        different += it->like[i] == i && it->best[i] >= 0;
    }
    return different;
}

// Launches one grid on the memory as it was; gives its milliseconds, or a negative number where it does not start.
static double timed(const struct replay *it, int grid)
{
    unsigned threads = it->plan->grids[grid][0];
    unsigned teams = teams_for(it->launch->grid[0], threads, it->plan->grids[grid][1]);
    handle stream = it->launch->stream;
    float milliseconds = 0;
    if (copy_regions(it->context, it->spare, 1, stream) || record_event(it->before, stream))
        return broken = 1, -1;
    if (launch_in(it->launch, teams, threads))
        return -1;
    // What fails while it runs has spoilt the context: the program will find that out, and the run is no use.
    if (record_event(it->after, stream) || api.wait(stream) || api.elapsed(&milliseconds, it->before, it->after))
        return broken = 1, -1;
    return milliseconds;
}

// All grids in turn; those that are far from the best one only once. Gives why there are no times.
static const char *time_grids(struct replay *it)
{
    struct plan *plan = it->plan;
    double start = now(), best = 0;
    size_t first = sample_count;
    for (int round = 0; round < ROUNDS; round++) {
        for (int at = 0; at < plan->count && !broken; at++) {
            int grid = (at + round * plan->count / ROUNDS) % plan->count;
            if (it->like[grid] != grid || it->best[grid] < 0 || (round && it->best[grid] > PATIENCE * best))
                continue;
            double milliseconds = timed(it, grid);
            if (!round || milliseconds < it->best[grid])
                it->best[grid] = milliseconds;
            if (milliseconds >= 0 && (best == 0 || milliseconds < best))
                best = milliseconds;
            for (int i = 0; i < plan->count && milliseconds >= 0; i++)
                if (it->like[i] == grid && (i == grid || it->best[i] >= 0))
                    keep_sample(plan, i, milliseconds);
            if (plan->seconds + now() - start <= budget)
                continue;
            // A launch of which not all grids were timed says nothing of those that were not.
            plan->seconds = budget + 1;
            if (!round) {
                sample_count = first;
                return "its launches take longer than the time for them";
            }
            plan->replayed++;
            return NULL;
        }
    }
    plan->seconds += now() - start;
    if (broken)
        sample_count = first;
    if (sample_count == first)
        return "the launches fail";
    plan->replayed++;
    return NULL;
}

static const char *with_spare(struct replay *it)
{
    handle stream = it->launch->stream;
    size_t bytes = bytes_of(it->context);
    if (!bytes)
        return "its memory is not memory of the device";
    if (make_event(&it->before, stream) || make_event(&it->after, stream))
        return "the device has no events";
    if (api.finish())
        return "the device does not answer";
    if (api.allocate(&it->spare, bytes))
        return "the device has no room for a copy of its memory";
    const char *refusal = NULL;
    if (copy_regions(it->context, it->spare, 0, stream) || api.wait(stream)) {
        refusal = "the memory of the device cannot be copied";
    } else {
        // The first launch of a kernel also loads it.
        unsigned threads = USUAL_THREADS < it->most_threads ? USUAL_THREADS : it->most_threads;
        if (launch_in(it->launch, teams_for(it->launch->grid[0], threads, USUAL_TEAMS), threads) || api.wait(stream))
            broken = 1;
        refusal = time_grids(it);
        if (copy_regions(it->context, it->spare, 1, stream) || api.wait(stream))
            broken = 1;
    }
    api.release(it->spare);
    return refusal;
}

static const char *replay(struct plan *plan, const struct launch *launch, unsigned most_threads)
{
    struct replay it = {.plan = plan, .launch = launch, .most_threads = most_threads};
    int captures = 0;
    if (unsaved)
        return unsaved;
    if (launch->grid[0] >= UNKNOWN)
        return "how many iterations it has is not known";
    if (api.capturing(launch->stream, &captures) || captures)
        return "its launch is captured, not made";
    if (find_alike(&it) == 0)
        return "none of the grids can be launched";
    handle popped;
    if (api.context_of(launch->stream, &it.context) || api.push(it.context))
        return "its context is not known";
    const char *refusal = with_spare(&it);
    if (it.before)
        free_event(it.before);
    if (it.after)
        free_event(it.after);
    if (api.pop(&popped))
        broken = 1;
    return refusal;
}

// Before a kernel is launched: replays it where that is due, and gives it the grid that it runs in. The lock is held.
static void choose_grid(struct kernel *kernel, struct launch *launch)
{
    int most_threads = 0;
    if (!kernel->is_judged)
        kernel->plan = kernel->name ? plan_of(kernel->name) : NULL;
    int is_new = !kernel->is_judged;
    kernel->is_judged = 1;
    struct plan *plan = kernel->plan;
    if (!plan || broken)
        return;
    if (!has_api()) {
        plan->refusal = "the driver lacks a function";
        return;
    }
    if (is_new)
        kernel->mode_refusal = mode_refusal(kernel->module, kernel->name);
    plan->launches++;
    if (kernel->mode_refusal || launch->grid[1] != 1 || launch->grid[2] != 1 || launch->block[1] != 1 ||
        launch->block[2] != 1) {
        // Its grid stays what it is.
        plan->refusal = kernel->mode_refusal ? kernel->mode_refusal : "its grid has several dimensions";
        return;
    }
    if (api.attribute(&most_threads, MAX_THREADS_OF_BLOCK, launch->function) || most_threads < 1) {
        plan->refusal = "how many threads it may have is not known";
        return;
    }
    int is_due = plan->launches <= LAST_LAUNCH && (plan->launches & (plan->launches - 1)) == 0;
    if (is_due && !plan->refusal && plan->seconds <= budget)
        plan->refusal = replay(plan, launch, (unsigned)most_threads);
    launch->block[0] = USUAL_THREADS < most_threads ? USUAL_THREADS : (unsigned)most_threads;
    launch->grid[0] = teams_for(launch->grid[0], launch->block[0], USUAL_TEAMS);
}

static void write_replays(FILE *file)
{
    for (size_t i = 0; i < sample_count; i++) {
        const struct plan *plan = &plans[samples[i].plan];
        const unsigned *grid = plan->grids[samples[i].grid];
        fprintf(file, "replay %ld %ld %u %u %.6f\n", plan->line, samples[i].launch, grid[0], grid[1],
                samples[i].milliseconds);
    }
    for (int i = 0; i < plan_count; i++)
        if (plans[i].launches && !plans[i].replayed)
            fprintf(file, "refused %ld %s\n", plans[i].line,
                    plans[i].refusal ? plans[i].refusal : "no launch of it could be replayed");
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
