// A part of the device's clock, which `device_clock.c` includes: launches a kernel in many grids within one run of the program.
//
// In SPMD mode the grid of a kernel is an argument of its launch and nothing else. The file that OMPSPLIT_REPLAY names tells the lines of
// kernels whose grids are to be tried, and these grids. Such a kernel is launched with one team for each iteration, which tells how many
// there are. Instead it gets an ordinary grid; and some of its first launches are made many times before: the memory of the device is
// saved, each grid is launched and timed in turn, and the memory is restored before each. So the program goes on as if nothing had been.
//
// What cannot be replayed is not: the reason is written beside the times.
#include <time.h>
#include "device_plans.c"
#include "device_driver.c"
#include "device_memory.c"

enum {
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

struct launch {
    handle function;
    unsigned grid[3], block[3], bytes;
    handle stream;
    void **arguments, **extra;
};

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
