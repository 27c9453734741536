// Page-locks ("pins") host memory that exists already, so that copies between it and a device run at the full rate and
// beside kernels. Written by `ompsplit header`; C99 and C++11, and nothing to link.
//
//     ompsplit_pin(a, bytes);   // before the first copy
//     ...                       // copies and kernels, and a wait for them
//     ompsplit_unpin(a);        // before the memory is freed
//
// The driver is looked for at run time: NVIDIA's `libcuda.so.1`, then AMD's `libamdhip64.so`. Without one, on systems
// without <dlfcn.h>, and where anything fails, the program computes the same from memory that is not pinned.
//
//   - Pins count: memory that several callers or threads have pinned is unpinned by the last of them. Each `unpin` names
//     the address that was given to `pin`.
//   - A pin that overlaps an earlier one in part becomes one pin of both, since a driver knows no copy that begins in pinned
//     memory and ends beyond it. For the same reason pin what is copied as a whole: while a part of an array is
//     pinned, a copy from its inside past its end fails. To the byte: a neighbour on the same page is not concerned.
//   - Memory that somebody else has pinned, or that a driver has allocated, stays as it is; that is a success.
//   - Memory must not be freed while it is pinned: what is then allocated there would be copied wrongly.
//   - All files of a program share one table. So do its shared libraries, where the linker lets them; those that do not
//     take each other for somebody else.
//   - `OMPSPLIT_PIN=off` in the environment pins nothing, `OMPSPLIT_PIN=verbose` reports failures on standard error,
//     `OMP_TARGET_OFFLOAD=DISABLED` pins nothing either.
#ifndef OMPSPLIT_PIN_H
#define OMPSPLIT_PIN_H

#include <stddef.h>

#ifdef _OPENMP
#include <omp.h>
#endif

// Is the caller the only thread that may map what it reads? Another one would find tiles that are not copied yet, or parts.
static inline int ompsplit_is_alone(void)
{
#ifdef _OPENMP
    return !omp_in_parallel();
#else
    return 0;
#endif
}

// Is nothing mapped at an address on the default device, which has memory of its own? Then what is there moves by copies.
static inline int ompsplit_is_absent(const void *start)
{
#ifdef _OPENMP
    const int device = omp_get_default_device();
    return ompsplit_is_alone() && device != omp_get_initial_device() && !omp_target_is_present(start, device);
#else
    (void)start;
    return 0;
#endif
}

#if (defined(__linux__) || defined(__FreeBSD__)) && defined(__GNUC__)

#include <dlfcn.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Weak where nothing else calls them, so that a C library without `dlopen` links as well.
static void *ompsplit_pin_dlopen_(const char *, int) __attribute__((weakref("dlopen"), unused));
static void *ompsplit_pin_dlsym_(void *, const char *) __attribute__((weakref("dlsym"), unused));

enum ompsplit_pin_kind_ { OMPSPLIT_PIN_UNKNOWN, OMPSPLIT_PIN_NOTHING, OMPSPLIT_PIN_CUDA, OMPSPLIT_PIN_HIP };

// What CUDA and HIP both answer about memory that is pinned already.
enum { OMPSPLIT_PIN_ALREADY = 712 };

// Memory that is registered with the driver here. Blocks never overlap.
struct ompsplit_pin_block_ {
    uintptr_t start, end;
    size_t uses;
    struct ompsplit_pin_block_ *next;
};

// One call of `ompsplit_pin` that is still to be undone; without a block where nothing is to be undone with the driver.
struct ompsplit_pin_use_ {
    uintptr_t start, end;
    struct ompsplit_pin_block_ *block;
    struct ompsplit_pin_use_ *next;
};

struct ompsplit_pin_state_ {
    char lock, verbose, reported;
    enum ompsplit_pin_kind_ kind;
    struct ompsplit_pin_block_ *blocks;
    struct ompsplit_pin_use_ *uses;
    // Both drivers; the first argument is not written to.
    int (*host_register)(const void *, size_t, unsigned);
    int (*host_unregister)(const void *);
    // CUDA alone. The primary context is retained while something is pinned in it.
    int (*get_device)(int *, int);
    int (*get_state)(int, unsigned *, int *);
    int (*retain)(void **, int);
    int (*release)(int);
    int (*push)(void *);
    int (*pop)(void **);
    int (*current_device)(int *);
    int (*attribute)(void *, int, unsigned long long);
    void *context;
    int device, devices;
};

#ifdef __cplusplus
extern "C" {
#endif
// Weak, so that the definitions of all files are one.
extern struct ompsplit_pin_state_ ompsplit_pin_state_1_;
__attribute__((weak, visibility("default"))) struct ompsplit_pin_state_ ompsplit_pin_state_1_;
#ifdef __cplusplus
}
#endif

static inline void ompsplit_pin_lock_(struct ompsplit_pin_state_ *s)
{
    while (__atomic_test_and_set(&s->lock, __ATOMIC_ACQUIRE))
        (void)sched_yield();
}

static inline void ompsplit_pin_unlock_(struct ompsplit_pin_state_ *s)
{
    __atomic_clear(&s->lock, __ATOMIC_RELEASE);
}

// Looks up a function; `pointer` is the address of a pointer to it.
static inline int ompsplit_pin_find_(void *library, const char *name, void *pointer)
{
    void *symbol = ompsplit_pin_dlsym_(library, name);
    memcpy(pointer, &symbol, sizeof symbol);
    return symbol != NULL;
}

static inline void *ompsplit_pin_open_(const char *name, int only_if_loaded)
{
#ifdef RTLD_NOLOAD
    return ompsplit_pin_dlopen_(name, only_if_loaded ? RTLD_NOW | RTLD_NOLOAD : RTLD_NOW);
#else
    return only_if_loaded ? NULL : ompsplit_pin_dlopen_(name, RTLD_NOW);
#endif
}

static inline int ompsplit_pin_cuda_(struct ompsplit_pin_state_ *s, void *library)
{
    int (*init)(unsigned), (*count)(int *);
    if (!ompsplit_pin_find_(library, "cuInit", &init) || !ompsplit_pin_find_(library, "cuDeviceGetCount", &count) ||
        !ompsplit_pin_find_(library, "cuDeviceGet", &s->get_device) ||
        !ompsplit_pin_find_(library, "cuDevicePrimaryCtxGetState", &s->get_state) ||
        !ompsplit_pin_find_(library, "cuDevicePrimaryCtxRetain", &s->retain) ||
        !ompsplit_pin_find_(library, "cuDevicePrimaryCtxRelease_v2", &s->release) ||
        !ompsplit_pin_find_(library, "cuCtxPushCurrent_v2", &s->push) ||
        !ompsplit_pin_find_(library, "cuCtxPopCurrent_v2", &s->pop) ||
        !ompsplit_pin_find_(library, "cuCtxGetDevice", &s->current_device) ||
        !ompsplit_pin_find_(library, "cuPointerGetAttribute", &s->attribute) ||
        !ompsplit_pin_find_(library, "cuMemHostRegister_v2", &s->host_register) ||
        !ompsplit_pin_find_(library, "cuMemHostUnregister", &s->host_unregister))
        return 0;
    return init(0) == 0 && count(&s->devices) == 0 && s->devices > 0;
}

static inline int ompsplit_pin_hip_(struct ompsplit_pin_state_ *s, void *library)
{
    int (*init)(unsigned), (*count)(int *);
    if (!ompsplit_pin_find_(library, "hipInit", &init) || !ompsplit_pin_find_(library, "hipGetDeviceCount", &count) ||
        !ompsplit_pin_find_(library, "hipHostRegister", &s->host_register) ||
        !ompsplit_pin_find_(library, "hipHostUnregister", &s->host_unregister))
        return 0;
    return init(0) == 0 && count(&s->devices) == 0 && s->devices > 0;
}

// Finds the driver, once: one that the program has loaded rather than another.
static inline int ompsplit_pin_ready_(struct ompsplit_pin_state_ *s)
{
    static const char *const hip_names[] = {"libamdhip64.so", "libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5"};
    const char *wish = getenv("OMPSPLIT_PIN"), *offload = getenv("OMP_TARGET_OFFLOAD");
    int loaded;
    size_t i;
    if (s->kind != OMPSPLIT_PIN_UNKNOWN)
        return s->kind != OMPSPLIT_PIN_NOTHING;
    s->kind = OMPSPLIT_PIN_NOTHING;
    s->verbose = wish && strcmp(wish, "verbose") == 0;
    if ((wish && strcmp(wish, "off") == 0) ||
        (offload && (strcmp(offload, "DISABLED") == 0 || strcmp(offload, "disabled") == 0)))
        return 0;
    if (!ompsplit_pin_dlopen_ || !ompsplit_pin_dlsym_)
        return 0;
    for (loaded = 1; loaded >= 0 && s->kind == OMPSPLIT_PIN_NOTHING; loaded--) {
        void *cuda = ompsplit_pin_open_("libcuda.so.1", loaded);
        if (cuda && ompsplit_pin_cuda_(s, cuda))
            s->kind = OMPSPLIT_PIN_CUDA;
        for (i = 0; i < sizeof hip_names / sizeof *hip_names && s->kind == OMPSPLIT_PIN_NOTHING; i++) {
            void *hip = ompsplit_pin_open_(hip_names[i], loaded);
            if (hip && ompsplit_pin_hip_(s, hip))
                s->kind = OMPSPLIT_PIN_HIP;
        }
    }
    return s->kind != OMPSPLIT_PIN_NOTHING;
}

// Makes a primary context current, that of the caller's own device or one in use rather than another; the caller's is below it.
static inline int ompsplit_pin_enter_(struct ompsplit_pin_state_ *s)
{
    int error = 0, ordinal, device, active = 0;
    unsigned flags;
    if (s->kind != OMPSPLIT_PIN_CUDA)
        return 0;
    if (!s->context) {
        if (s->current_device(&device) == 0)
            active = 1;
        for (ordinal = 0; !active && ordinal < s->devices; ordinal++)
            if (s->get_device(&device, ordinal) != 0 || s->get_state(device, &flags, &active) != 0)
                active = 0;
        if (!active)
            error = s->get_device(&device, 0);
        if (!error)
            error = s->retain(&s->context, device);
        if (error) {
            s->context = NULL;
            return error;
        }
        s->device = device;
    }
    return s->push(s->context);
}

// Leaves the caller's context as it was, and the device where nothing is pinned.
static inline void ompsplit_pin_leave_(struct ompsplit_pin_state_ *s, int entered)
{
    void *popped;
    if (s->kind != OMPSPLIT_PIN_CUDA)
        return;
    if (entered)
        (void)s->pop(&popped);
    if (!s->blocks && s->context) {
        (void)s->release(s->device);
        s->context = NULL;
    }
}

static inline int ompsplit_pin_report_(struct ompsplit_pin_state_ *s, const char *what, uintptr_t start, uintptr_t end,
                                       int error)
{
    if (error && s->verbose && !s->reported) {
        s->reported = 1;
        fprintf(stderr, "ompsplit_pin: cannot %s %zu bytes at %#zx: error %d of the driver\n", what,
                (size_t)(end - start), (size_t)start, error);
    }
    return error;
}

// Registers memory; OMPSPLIT_PIN_ALREADY where somebody else has pinned it.
static inline int ompsplit_pin_register_(struct ompsplit_pin_state_ *s, uintptr_t start, uintptr_t end)
{
    // For all devices (1). Memory that cannot be written has to be declared so (8); more of it would not help (2).
    int error = s->host_register((const void *)start, end - start, 1), type;
    if (!error || error == OMPSPLIT_PIN_ALREADY)
        return error;
    // What the driver has allocated is known to it, but is not registered.
    if (s->kind == OMPSPLIT_PIN_CUDA && s->attribute(&type, 2, (unsigned long long)start) == 0)
        return OMPSPLIT_PIN_ALREADY;
    return error != 2 && s->host_register((const void *)start, end - start, 1 | 8) == 0 ? 0 : error;
}

// A block on the list of blocks, registered as one in place of all that overlap it; those stay unregistered where that fails,
// since memory that is pinned in part cannot be copied.
static inline int ompsplit_pin_join_(struct ompsplit_pin_state_ *s, struct ompsplit_pin_block_ *made)
{
    struct ompsplit_pin_block_ **at = &s->blocks, *old;
    struct ompsplit_pin_use_ *use;
    int error;
    while ((old = *at) != NULL) {
        if (old->end <= made->start || made->end <= old->start) {
            at = &old->next;
            continue;
        }
        (void)s->host_unregister((const void *)old->start);
        made->start = old->start < made->start ? old->start : made->start;
        made->end = old->end > made->end ? old->end : made->end;
        made->uses += old->uses;
        *at = old->next;
        for (use = s->uses; use; use = use->next)
            if (use->block == old)
                use->block = made;
        free(old); // what has been gained overlaps no other block, since blocks do not overlap
    }
    error = ompsplit_pin_register_(s, made->start, made->end);
    if (!error) {
        made->next = s->blocks;
        s->blocks = made;
        return 0;
    }
    for (use = s->uses; use; use = use->next)
        if (use->block == made)
            use->block = NULL;
    free(made);
    return error;
}

// Finds or makes the block of a use.
static inline int ompsplit_pin_use_block_(struct ompsplit_pin_state_ *s, struct ompsplit_pin_use_ *use)
{
    struct ompsplit_pin_block_ *block;
    int error;
    for (block = s->blocks; block; block = block->next) {
        if (block->start <= use->start && use->end <= block->end) {
            block->uses++;
            use->block = block;
            return 0;
        }
    }
    block = (struct ompsplit_pin_block_ *)malloc(sizeof *block);
    if (!block)
        return 0;
    error = ompsplit_pin_enter_(s);
    if (error) {
        free(block);
        ompsplit_pin_leave_(s, 0);
        return error;
    }
    block->start = use->start;
    block->end = use->end;
    block->uses = 1;
    use->block = block;
    error = ompsplit_pin_join_(s, block);
    ompsplit_pin_leave_(s, 1);
    return error == OMPSPLIT_PIN_ALREADY ? 0 : error;
}

// Pins `bytes` bytes from `start` on, until `ompsplit_unpin(start)`. 0, also where there is nothing to do, or the error
// code of the driver, which need not concern the caller: the memory is then not pinned.
static inline int ompsplit_pin(const void *start, size_t bytes)
{
    struct ompsplit_pin_state_ *s = &ompsplit_pin_state_1_;
    struct ompsplit_pin_use_ *use;
    int error = 0;
    ompsplit_pin_lock_(s);
    if (ompsplit_pin_ready_(s) && (use = (struct ompsplit_pin_use_ *)malloc(sizeof *use)) != NULL) {
        use->start = (uintptr_t)start;
        use->end = use->start + bytes;
        use->block = NULL;
        use->next = s->uses;
        s->uses = use;
        // Also a use of nothing is one: its `unpin` must not undo another's.
        if (start && use->end > use->start)
            error = ompsplit_pin_report_(s, "pin", use->start, use->end, ompsplit_pin_use_block_(s, use));
    }
    ompsplit_pin_unlock_(s);
    return error;
}

// The same for memory that is about to be used, from its allocation until `ompsplit_unpin(start)` before it is freed: only if it has
// `least` bytes, since less is copied faster than it is pinned.
static inline int ompsplit_pin_large(const void *start, size_t bytes, size_t least)
{
    return bytes >= least ? ompsplit_pin(start, bytes) : 0;
}

// Undoes one `ompsplit_pin(start, ..)`. Copies of the memory that have begun are waited for by the driver. 0, or its error code.
static inline int ompsplit_unpin(const void *start)
{
    struct ompsplit_pin_state_ *s = &ompsplit_pin_state_1_;
    struct ompsplit_pin_use_ **at, **found = NULL, *use;
    struct ompsplit_pin_block_ **link, *block;
    int error = 0, entered;
    ompsplit_pin_lock_(s);
    // The smallest of those that begin here: what the others need stays pinned whichever order they end in.
    for (at = &s->uses; *at; at = &(*at)->next)
        if ((*at)->start == (uintptr_t)start && (!found || (*at)->end < (*found)->end))
            found = at;
    if (found) {
        use = *found;
        block = use->block;
        *found = use->next;
        free(use);
        if (block && --block->uses == 0) {
            for (link = &s->blocks; *link != block; link = &(*link)->next)
                continue;
            *link = block->next;
            entered = ompsplit_pin_enter_(s) == 0;
            error = s->host_unregister((const void *)block->start);
            (void)ompsplit_pin_report_(s, "unpin", block->start, block->end, error);
            ompsplit_pin_leave_(s, entered);
            free(block);
        }
    }
    ompsplit_pin_unlock_(s);
    return error;
}

#else

static inline int ompsplit_pin(const void *start, size_t bytes)
{
    (void)start;
    (void)bytes;
    return 0;
}

static inline int ompsplit_pin_large(const void *start, size_t bytes, size_t least)
{
    (void)least;
    return ompsplit_pin(start, bytes);
}

static inline int ompsplit_unpin(const void *start)
{
    (void)start;
    return 0;
}

#endif
#endif
