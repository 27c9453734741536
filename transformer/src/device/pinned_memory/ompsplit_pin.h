// Copies between host memory and a device at the full rate and beside kernels, which takes page-locked ("pinned") memory. Written by
// `ompsplit header`; C99 and C++11, and nothing to link. Either what is mapped passes through pinned buffers:
//
//     ompsplit_to_device(a, bytes);     // before a kernel; each host thread has a buffer
//     ompsplit_from_device(b, bytes);   // behind it
//
// or host memory that exists already is pinned for as long as it is copied again and again:
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
//   - A buffer has at most 4 MiB. It is made when a thread first copies, and kept for others until the program ends.
//   - Memory must not be freed while it is pinned: what is then allocated there would be copied wrongly.
//   - All files of a program share one table. So do its shared libraries, where the linker lets them; those that do not
//     take each other for somebody else.
//   - `OMPSPLIT_PIN=off` in the environment pins nothing, `OMPSPLIT_PIN=verbose` reports failures on standard error,
//     `OMP_TARGET_OFFLOAD=DISABLED` pins nothing either.
//
// It can stand among any declarations: but for keywords and what compilers reserve, each of its names begins with `ompsplit_` or
// ends in `_`, as no macro of a program does, and what it calls it declares itself, so that no library's header comes with it.
#ifndef OMPSPLIT_PIN_H
#define OMPSPLIT_PIN_H

#if (defined(__linux__) || defined(__FreeBSD__)) && defined(__GNUC__)

typedef __SIZE_TYPE__ ompsplit_size;

#ifdef __cplusplus
extern "C" {
#endif
#ifdef _OPENMP
int ompsplit_omp_in_parallel_(void) __asm__("omp_in_parallel");
int ompsplit_omp_default_device_(void) __asm__("omp_get_default_device");
int ompsplit_omp_initial_device_(void) __asm__("omp_get_initial_device");
int ompsplit_omp_is_present_(const void *, int) __asm__("omp_target_is_present");
int ompsplit_omp_processors_(void) __asm__("omp_get_num_procs");
int ompsplit_omp_copy_(void *, const void *, ompsplit_size, ompsplit_size, ompsplit_size, int, int) __asm__("omp_target_memcpy");
#endif
char *ompsplit_pin_getenv_(const char *) __asm__("getenv");
int ompsplit_pin_yield_(void) __asm__("sched_yield");
int ompsplit_pin_align_(void **, ompsplit_size, ompsplit_size) __asm__("posix_memalign");
#ifdef __linux__
int ompsplit_pin_advise_(void *, ompsplit_size, int) __asm__("madvise");
#endif
int ompsplit_pin_print_(void *, const char *, ...) __asm__("fprintf") __attribute__((__format__(__printf__, 2, 3)));
#ifdef __FreeBSD__
extern void *ompsplit_pin_stderr_ __asm__("__stderrp");
#else
extern void *ompsplit_pin_stderr_ __asm__("stderr");
#endif
#ifdef __cplusplus
}
#endif

#ifdef _OPENMP
// Null where the runtime is older than OpenMP 5.1.
static void *ompsplit_omp_mapped_(const void *, int) __attribute__((__weakref__("omp_get_mapped_ptr"), __unused__));
#endif

#else

#include <stddef.h>

typedef size_t ompsplit_size;

#ifdef _OPENMP
#include <omp.h>
#include <stdlib.h>
#define ompsplit_omp_in_parallel_ omp_in_parallel
#define ompsplit_omp_default_device_ omp_get_default_device
#define ompsplit_omp_initial_device_ omp_get_initial_device
#define ompsplit_omp_is_present_ omp_target_is_present
#define ompsplit_omp_processors_ omp_get_num_procs
#define ompsplit_omp_copy_ omp_target_memcpy
#define ompsplit_omp_mapped_ omp_get_mapped_ptr
#endif

#endif

// Is the caller the only thread that may map what it reads? Another one would find tiles that are not copied yet, or parts.
static inline int ompsplit_is_alone(void)
{
#ifdef _OPENMP
    return !ompsplit_omp_in_parallel_();
#else
    return 0;
#endif
}

// Is nothing mapped at an address on the default device, which has memory of its own? Then what is there moves by copies.
static inline int ompsplit_is_absent(const void *start_)
{
#ifdef _OPENMP
    const int device_ = ompsplit_omp_default_device_();
    char probe_ = 0;
    if (!ompsplit_is_alone() || !ompsplit_omp_mapped_ || device_ == ompsplit_omp_initial_device_())
        return 0;
    // What is declared for devices is there from the first construct for the device on, not before. This one finds nothing to copy.
#pragma omp target update to(probe_)
    (void)probe_;
    return !ompsplit_omp_is_present_(start_, device_);
#else
    (void)start_;
    return 0;
#endif
}

// How many host threads copy: one for each processor, but no more than `most_`.
static inline int ompsplit_threads(int most_)
{
#ifdef _OPENMP
    const int processors_ = ompsplit_omp_processors_();
    return processors_ < most_ ? processors_ : most_;
#else
    return most_;
#endif
}

#if (defined(__linux__) || defined(__FreeBSD__)) && defined(__GNUC__)

// Structures have the same layout in all files, whatever packs those around it.
#pragma pack(push)
#pragma pack()

// Weak where nothing else calls them, so that a C library without `dlopen` links as well.
static void *ompsplit_pin_dlopen_(const char *, int) __attribute__((__weakref__("dlopen"), __unused__));
static void *ompsplit_pin_dlsym_(void *, const char *) __attribute__((__weakref__("dlsym"), __unused__));

// Flags of `dlopen`: resolve all names at once; only a library that is loaded already.
#ifdef __FreeBSD__
enum { OMPSPLIT_PIN_NOW = 2, OMPSPLIT_PIN_LOADED = 0x2000 };
#elif defined(__mips__)
enum { OMPSPLIT_PIN_NOW = 2, OMPSPLIT_PIN_LOADED = 8 };
#else
enum { OMPSPLIT_PIN_NOW = 2, OMPSPLIT_PIN_LOADED = 4 };
#endif

enum ompsplit_pin_kind_ { OMPSPLIT_PIN_UNKNOWN, OMPSPLIT_PIN_NOTHING, OMPSPLIT_PIN_CUDA, OMPSPLIT_PIN_HIP };

// What CUDA and HIP both answer about memory that is pinned already.
enum { OMPSPLIT_PIN_ALREADY = 712 };

// Memory that is registered with the driver here. Blocks never overlap.
struct ompsplit_pin_block_ {
    __UINTPTR_TYPE__ start_, end_;
    ompsplit_size uses_;
    struct ompsplit_pin_block_ *next_;
};

// One call of `ompsplit_pin` that is still to be undone; without a block where nothing is to be undone with the driver.
struct ompsplit_pin_use_ {
    __UINTPTR_TYPE__ start_, end_;
    struct ompsplit_pin_block_ *block_;
    struct ompsplit_pin_use_ *next_;
};

// Memory through which a thread copies, while no thread does.
struct ompsplit_pin_buffer_ {
    char *memory_;
    ompsplit_size bytes_;
    struct ompsplit_pin_buffer_ *next_;
    // Where CUDA copies half of it while a thread fills or empties the other: the context, a stream of it, and when each half is free.
    void *context_, *stream_, *events_[2];
};

// The bytes of the smallest and the largest buffer, since a copy of less than 4 MiB takes long for what it copies; and of a huge page.
enum { OMPSPLIT_PIN_SMALLEST = 1 << 18, OMPSPLIT_PIN_LARGEST = 1 << 22, OMPSPLIT_PIN_HUGE = 1 << 21 };

struct ompsplit_pin_state_ {
    char lock_, verbose_, reported_, refused_; // `refused_`: no further buffer can be pinned
    int kind_; // an ompsplit_pin_kind_, whose size flags of a compiler may change
    struct ompsplit_pin_block_ *blocks_;
    struct ompsplit_pin_use_ *uses_;
    struct ompsplit_pin_buffer_ *buffers_;
    // Both drivers; the first argument is not written to.
    int (*host_register_)(const void *, ompsplit_size, unsigned);
    int (*host_unregister_)(const void *);
    // CUDA alone. The primary context is retained while something is pinned in it.
    int (*get_device_)(int *, int);
    int (*get_state_)(int, unsigned *, int *);
    int (*retain_)(void **, int);
    int (*release_)(int);
    int (*push_)(void *);
    int (*pop_)(void **);
    int (*current_device_)(int *);
    int (*attribute_)(void *, int, unsigned long long);
    // The same; null where the driver has not all of them.
    int (*to_device_)(unsigned long long, const void *, ompsplit_size, void *);
    int (*from_device_)(void *, unsigned long long, ompsplit_size, void *);
    int (*make_stream_)(void **, unsigned);
    int (*make_event_)(void **, unsigned);
    int (*record_)(void *, void *);
    int (*wait_for_event_)(void *);
    int (*wait_for_stream_)(void *);
    void *context_;
    int device_, devices_;
};

#ifdef __cplusplus
extern "C" {
#endif
// Weak, so that the definitions of all files are one.
extern struct ompsplit_pin_state_ ompsplit_pin_state_3_;
__attribute__((__weak__, __visibility__("default"))) struct ompsplit_pin_state_ ompsplit_pin_state_3_;
#ifdef __cplusplus
}
#endif

static inline void ompsplit_pin_lock_(struct ompsplit_pin_state_ *state_)
{
    while (__atomic_test_and_set(&state_->lock_, __ATOMIC_ACQUIRE))
        (void)ompsplit_pin_yield_();
}

static inline void ompsplit_pin_unlock_(struct ompsplit_pin_state_ *state_)
{
    __atomic_clear(&state_->lock_, __ATOMIC_RELEASE);
}

// Looks up a function; `pointer_` is the address of a pointer to it.
static inline int ompsplit_pin_find_(void *library_, const char *name_, void *pointer_)
{
    void *symbol_ = ompsplit_pin_dlsym_(library_, name_);
    __builtin_memcpy(pointer_, &symbol_, sizeof symbol_);
    return symbol_ != 0;
}

static inline void *ompsplit_pin_open_(const char *name_, int only_if_loaded_)
{
    return ompsplit_pin_dlopen_(name_, only_if_loaded_ ? OMPSPLIT_PIN_NOW | OMPSPLIT_PIN_LOADED : OMPSPLIT_PIN_NOW);
}

static inline int ompsplit_pin_cuda_(struct ompsplit_pin_state_ *state_, void *library_)
{
    int (*init_)(unsigned), (*count_)(int *);
    if (!ompsplit_pin_find_(library_, "cuInit", &init_) || !ompsplit_pin_find_(library_, "cuDeviceGetCount", &count_) ||
        !ompsplit_pin_find_(library_, "cuDeviceGet", &state_->get_device_) ||
        !ompsplit_pin_find_(library_, "cuDevicePrimaryCtxGetState", &state_->get_state_) ||
        !ompsplit_pin_find_(library_, "cuDevicePrimaryCtxRetain", &state_->retain_) ||
        !ompsplit_pin_find_(library_, "cuDevicePrimaryCtxRelease_v2", &state_->release_) ||
        !ompsplit_pin_find_(library_, "cuCtxPushCurrent_v2", &state_->push_) ||
        !ompsplit_pin_find_(library_, "cuCtxPopCurrent_v2", &state_->pop_) ||
        !ompsplit_pin_find_(library_, "cuCtxGetDevice", &state_->current_device_) ||
        !ompsplit_pin_find_(library_, "cuPointerGetAttribute", &state_->attribute_) ||
        !ompsplit_pin_find_(library_, "cuMemHostRegister_v2", &state_->host_register_) ||
        !ompsplit_pin_find_(library_, "cuMemHostUnregister", &state_->host_unregister_))
        return 0;
    if (!ompsplit_pin_find_(library_, "cuMemcpyDtoHAsync_v2", &state_->from_device_) ||
        !ompsplit_pin_find_(library_, "cuStreamCreate", &state_->make_stream_) ||
        !ompsplit_pin_find_(library_, "cuEventCreate", &state_->make_event_) ||
        !ompsplit_pin_find_(library_, "cuEventRecord", &state_->record_) ||
        !ompsplit_pin_find_(library_, "cuEventSynchronize", &state_->wait_for_event_) ||
        !ompsplit_pin_find_(library_, "cuStreamSynchronize", &state_->wait_for_stream_) ||
        !ompsplit_pin_find_(library_, "cuMemcpyHtoDAsync_v2", &state_->to_device_))
        state_->to_device_ = 0;
    return init_(0) == 0 && count_(&state_->devices_) == 0 && state_->devices_ > 0;
}

static inline int ompsplit_pin_hip_(struct ompsplit_pin_state_ *state_, void *library_)
{
    int (*init_)(unsigned), (*count_)(int *);
    if (!ompsplit_pin_find_(library_, "hipInit", &init_) || !ompsplit_pin_find_(library_, "hipGetDeviceCount", &count_) ||
        !ompsplit_pin_find_(library_, "hipHostRegister", &state_->host_register_) ||
        !ompsplit_pin_find_(library_, "hipHostUnregister", &state_->host_unregister_))
        return 0;
    return init_(0) == 0 && count_(&state_->devices_) == 0 && state_->devices_ > 0;
}

// Finds the driver, once: one that the program has loaded rather than another.
static inline int ompsplit_pin_ready_(struct ompsplit_pin_state_ *state_)
{
    static const char *const names_[] = {"libamdhip64.so", "libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5"};
    const char *wish_ = ompsplit_pin_getenv_("OMPSPLIT_PIN"), *offload_ = ompsplit_pin_getenv_("OMP_TARGET_OFFLOAD");
    int loaded_;
    ompsplit_size number_;
    if (state_->kind_ != OMPSPLIT_PIN_UNKNOWN)
        return state_->kind_ != OMPSPLIT_PIN_NOTHING;
    state_->kind_ = OMPSPLIT_PIN_NOTHING;
    state_->verbose_ = wish_ && __builtin_strcmp(wish_, "verbose") == 0;
    if ((wish_ && __builtin_strcmp(wish_, "off") == 0) ||
        (offload_ && (__builtin_strcmp(offload_, "DISABLED") == 0 || __builtin_strcmp(offload_, "disabled") == 0)))
        return 0;
    if (!ompsplit_pin_dlopen_ || !ompsplit_pin_dlsym_)
        return 0;
    for (loaded_ = 1; loaded_ >= 0 && state_->kind_ == OMPSPLIT_PIN_NOTHING; loaded_--) {
        void *cuda_ = ompsplit_pin_open_("libcuda.so.1", loaded_);
        if (cuda_ && ompsplit_pin_cuda_(state_, cuda_))
            state_->kind_ = OMPSPLIT_PIN_CUDA;
        for (number_ = 0; number_ < sizeof names_ / sizeof *names_ && state_->kind_ == OMPSPLIT_PIN_NOTHING; number_++) {
            void *hip_ = ompsplit_pin_open_(names_[number_], loaded_);
            if (hip_ && ompsplit_pin_hip_(state_, hip_))
                state_->kind_ = OMPSPLIT_PIN_HIP;
        }
    }
    return state_->kind_ != OMPSPLIT_PIN_NOTHING;
}

// Makes a primary context current, that of the caller's own device or one in use rather than another; the caller's is below it.
static inline int ompsplit_pin_enter_(struct ompsplit_pin_state_ *state_)
{
    int error_ = 0, ordinal_, device_, active_ = 0;
    unsigned flags_;
    if (state_->kind_ != OMPSPLIT_PIN_CUDA)
        return 0;
    if (!state_->context_) {
        if (state_->current_device_(&device_) == 0)
            active_ = 1;
        for (ordinal_ = 0; !active_ && ordinal_ < state_->devices_; ordinal_++)
            if (state_->get_device_(&device_, ordinal_) != 0 || state_->get_state_(device_, &flags_, &active_) != 0)
                active_ = 0;
        if (!active_)
            error_ = state_->get_device_(&device_, 0);
        if (!error_)
            error_ = state_->retain_(&state_->context_, device_);
        if (error_) {
            state_->context_ = 0;
            return error_;
        }
        state_->device_ = device_;
    }
    return state_->push_(state_->context_);
}

// Leaves the caller's context as it was, and the device where nothing is pinned.
static inline void ompsplit_pin_leave_(struct ompsplit_pin_state_ *state_, int entered_)
{
    void *popped_;
    if (state_->kind_ != OMPSPLIT_PIN_CUDA)
        return;
    if (entered_)
        (void)state_->pop_(&popped_);
    if (!state_->blocks_ && state_->context_) {
        (void)state_->release_(state_->device_);
        state_->context_ = 0;
    }
}

static inline int ompsplit_pin_report_(struct ompsplit_pin_state_ *state_, const char *what_, __UINTPTR_TYPE__ start_,
                                           __UINTPTR_TYPE__ end_, int error_)
{
    if (error_ && state_->verbose_ && !state_->reported_) {
        state_->reported_ = 1;
        ompsplit_pin_print_(ompsplit_pin_stderr_, "ompsplit_pin: cannot %s %zu bytes at %#zx: error %d of the driver\n", what_,
                            (ompsplit_size)(end_ - start_), (ompsplit_size)start_, error_);
    }
    return error_;
}

// Registers memory; OMPSPLIT_PIN_ALREADY where somebody else has pinned it.
static inline int ompsplit_pin_register_(struct ompsplit_pin_state_ *state_, __UINTPTR_TYPE__ start_, __UINTPTR_TYPE__ end_)
{
    // For all devices (1). Memory that cannot be written has to be declared so (8); more of it would not help (2).
    int error_ = state_->host_register_((const void *)start_, end_ - start_, 1), type_;
    if (!error_ || error_ == OMPSPLIT_PIN_ALREADY)
        return error_;
    // What the driver has allocated is known to it, but is not registered.
    if (state_->kind_ == OMPSPLIT_PIN_CUDA && state_->attribute_(&type_, 2, (unsigned long long)start_) == 0)
        return OMPSPLIT_PIN_ALREADY;
    return error_ != 2 && state_->host_register_((const void *)start_, end_ - start_, 1 | 8) == 0 ? 0 : error_;
}

// A block on the list of blocks, registered as one in place of all that overlap it; those stay unregistered where that fails,
// since memory that is pinned in part cannot be copied.
static inline int ompsplit_pin_join_(struct ompsplit_pin_state_ *state_, struct ompsplit_pin_block_ *made_)
{
    struct ompsplit_pin_block_ **at_ = &state_->blocks_, *old_;
    struct ompsplit_pin_use_ *use_;
    int error_;
    while ((old_ = *at_) != 0) {
        if (old_->end_ <= made_->start_ || made_->end_ <= old_->start_) {
            at_ = &old_->next_;
            continue;
        }
        (void)state_->host_unregister_((const void *)old_->start_);
        made_->start_ = old_->start_ < made_->start_ ? old_->start_ : made_->start_;
        made_->end_ = old_->end_ > made_->end_ ? old_->end_ : made_->end_;
        made_->uses_ += old_->uses_;
        *at_ = old_->next_;
        for (use_ = state_->uses_; use_; use_ = use_->next_)
            if (use_->block_ == old_)
                use_->block_ = made_;
        __builtin_free(old_); // what has been gained overlaps no other block, since blocks do not overlap
    }
    error_ = ompsplit_pin_register_(state_, made_->start_, made_->end_);
    if (!error_) {
        made_->next_ = state_->blocks_;
        state_->blocks_ = made_;
        return 0;
    }
    for (use_ = state_->uses_; use_; use_ = use_->next_)
        if (use_->block_ == made_)
            use_->block_ = 0;
    __builtin_free(made_);
    return error_;
}

// Finds or makes the block of a use.
static inline int ompsplit_pin_use_block_(struct ompsplit_pin_state_ *state_, struct ompsplit_pin_use_ *use_)
{
    struct ompsplit_pin_block_ *block_;
    int error_;
    for (block_ = state_->blocks_; block_; block_ = block_->next_) {
        if (block_->start_ <= use_->start_ && use_->end_ <= block_->end_) {
            block_->uses_++;
            use_->block_ = block_;
            return 0;
        }
    }
    block_ = (struct ompsplit_pin_block_ *)__builtin_malloc(sizeof *block_);
    if (!block_)
        return 0;
    error_ = ompsplit_pin_enter_(state_);
    if (error_) {
        __builtin_free(block_);
        ompsplit_pin_leave_(state_, 0);
        return error_;
    }
    block_->start_ = use_->start_;
    block_->end_ = use_->end_;
    block_->uses_ = 1;
    use_->block_ = block_;
    error_ = ompsplit_pin_join_(state_, block_);
    ompsplit_pin_leave_(state_, 1);
    return error_ == OMPSPLIT_PIN_ALREADY ? 0 : error_;
}

// Pins `bytes_` bytes from `start_` on, until `ompsplit_unpin(start_)`. 0, also where there is nothing to do, or the error
// code of the driver, which need not concern the caller: the memory is then not pinned.
static inline int ompsplit_pin(const void *start_, ompsplit_size bytes_)
{
    struct ompsplit_pin_state_ *state_ = &ompsplit_pin_state_3_;
    struct ompsplit_pin_use_ *use_;
    int error_ = 0;
    ompsplit_pin_lock_(state_);
    if (ompsplit_pin_ready_(state_) && (use_ = (struct ompsplit_pin_use_ *)__builtin_malloc(sizeof *use_)) != 0) {
        use_->start_ = (__UINTPTR_TYPE__)start_;
        use_->end_ = use_->start_ + bytes_;
        use_->block_ = 0;
        use_->next_ = state_->uses_;
        state_->uses_ = use_;
        // Also a use of nothing is one: its `unpin` must not undo another's.
        if (start_ && use_->end_ > use_->start_)
            error_ = ompsplit_pin_report_(state_, "pin", use_->start_, use_->end_, ompsplit_pin_use_block_(state_, use_));
    }
    ompsplit_pin_unlock_(state_);
    return error_;
}

// The same for memory that is about to be used, from its allocation until `ompsplit_unpin(start_)` before it is freed: only if it has
// `least_` bytes, since less is copied faster than it is pinned.
static inline int ompsplit_pin_large(const void *start_, ompsplit_size bytes_, ompsplit_size least_)
{
    return bytes_ >= least_ ? ompsplit_pin(start_, bytes_) : 0;
}

// Undoes one `ompsplit_pin(start_, ..)`. Copies of the memory that have begun are waited for by the driver. 0, or its error code.
static inline int ompsplit_unpin(const void *start_)
{
    struct ompsplit_pin_state_ *state_ = &ompsplit_pin_state_3_;
    struct ompsplit_pin_use_ **at_, **found_ = 0, *use_;
    struct ompsplit_pin_block_ **link_, *block_;
    int error_ = 0, entered_;
    ompsplit_pin_lock_(state_);
    // The smallest of those that begin here: what the others need stays pinned whichever order they end in.
    for (at_ = &state_->uses_; *at_; at_ = &(*at_)->next_)
        if ((*at_)->start_ == (__UINTPTR_TYPE__)start_ && (!found_ || (*at_)->end_ < (*found_)->end_))
            found_ = at_;
    if (found_) {
        use_ = *found_;
        block_ = use_->block_;
        *found_ = use_->next_;
        __builtin_free(use_);
        if (block_ && --block_->uses_ == 0) {
            for (link_ = &state_->blocks_; *link_ != block_; link_ = &(*link_)->next_)
                continue;
            *link_ = block_->next_;
            entered_ = ompsplit_pin_enter_(state_) == 0;
            error_ = state_->host_unregister_((const void *)block_->start_);
            (void)ompsplit_pin_report_(state_, "unpin", block_->start_, block_->end_, error_);
            ompsplit_pin_leave_(state_, entered_);
            __builtin_free(block_);
        }
    }
    ompsplit_pin_unlock_(state_);
    return error_;
}

// New memory in pages that are there, as large as they come: small ones take longer to make than to pin.
static inline char *ompsplit_pin_pages_(ompsplit_size bytes_)
{
    void *memory_ = 0;
    if (ompsplit_pin_align_(&memory_, OMPSPLIT_PIN_HUGE, bytes_) != 0)
        return 0;
#ifdef __linux__
    (void)ompsplit_pin_advise_(memory_, bytes_, 14); // MADV_HUGEPAGE, which may be refused
#endif
    return (char *)__builtin_memset(memory_, 0, bytes_);
}

// Pins a buffer that has at least so many bytes; null where that fails.
static inline struct ompsplit_pin_buffer_ *ompsplit_pin_make_(ompsplit_size least_)
{
    struct ompsplit_pin_buffer_ *buffer_ = (struct ompsplit_pin_buffer_ *)__builtin_malloc(sizeof *buffer_);
    if (!buffer_)
        return 0;
    buffer_->context_ = buffer_->stream_ = buffer_->events_[0] = buffer_->events_[1] = 0;
    for (buffer_->bytes_ = OMPSPLIT_PIN_SMALLEST; buffer_->bytes_ < least_ && buffer_->bytes_ < OMPSPLIT_PIN_LARGEST;)
        buffer_->bytes_ *= 2;
    buffer_->memory_ = ompsplit_pin_pages_(buffer_->bytes_);
    if (!buffer_->memory_ || ompsplit_pin(buffer_->memory_, buffer_->bytes_) != 0) {
        if (buffer_->memory_)
            (void)ompsplit_unpin(buffer_->memory_);
        __builtin_free(buffer_->memory_);
        __builtin_free(buffer_);
        return 0;
    }
    return buffer_;
}

// A buffer for so many bytes, or a part of them at a time, which is the caller's until it is given back; null where there is none.
static inline struct ompsplit_pin_buffer_ *ompsplit_pin_take_(ompsplit_size bytes_)
{
    struct ompsplit_pin_state_ *state_ = &ompsplit_pin_state_3_;
    struct ompsplit_pin_buffer_ **at_, *found_;
    int ready_;
    ompsplit_pin_lock_(state_);
    ready_ = ompsplit_pin_ready_(state_) && !state_->refused_;
    for (at_ = &state_->buffers_; *at_ && (*at_)->bytes_ < bytes_ && (*at_)->bytes_ < OMPSPLIT_PIN_LARGEST;)
        at_ = &(*at_)->next_;
    found_ = *at_;
    if (found_)
        *at_ = found_->next_;
    ompsplit_pin_unlock_(state_);
    if (!found_ && ready_) {
        found_ = ompsplit_pin_make_(bytes_);
        if (!found_) {
            ompsplit_pin_lock_(state_);
            state_->refused_ = 1;
            ompsplit_pin_unlock_(state_);
        }
    }
    return found_;
}

static inline void ompsplit_pin_give_(struct ompsplit_pin_buffer_ *buffer_)
{
    struct ompsplit_pin_state_ *state_ = &ompsplit_pin_state_3_;
    ompsplit_pin_lock_(state_);
    buffer_->next_ = state_->buffers_;
    state_->buffers_ = buffer_;
    ompsplit_pin_unlock_(state_);
}

#ifdef _OPENMP

// Copies a part of mapped memory to or from its place on the device, through a buffer unless there is none.
static inline int ompsplit_pin_part_(char *near_, char *far_, ompsplit_size bytes_, char *through_, int to_device_)
{
    const int device_ = ompsplit_omp_default_device_(), initial_ = ompsplit_omp_initial_device_();
    char *const from_ = through_ ? through_ : near_;
    int error_;
    if (to_device_) {
        if (through_)
            __builtin_memcpy(through_, near_, bytes_);
        return ompsplit_omp_copy_(far_, from_, bytes_, 0, 0, device_, initial_);
    }
    error_ = ompsplit_omp_copy_(from_, far_, bytes_, 0, 0, initial_, device_);
    if (through_)
        __builtin_memcpy(near_, through_, bytes_);
    return error_;
}

// Makes the context of memory of a device current, with a stream of the buffer in it, if CUDA has allocated it. Only the first context
// that a buffer meets has one.
static inline int ompsplit_pin_stream_(struct ompsplit_pin_state_ *state_, struct ompsplit_pin_buffer_ *buffer_, char *far_)
{
    const unsigned long long address_ = (__UINTPTR_TYPE__)far_;
    void *context_, *popped_;
    unsigned type_;
    // Attribute 2 is the type of memory, of which 2 is a device's; 1 is its context. A stream apart from the default one (1), events
    // without times (2).
    if (state_->kind_ != OMPSPLIT_PIN_CUDA || !state_->to_device_ || state_->attribute_(&type_, 2, address_) != 0 || type_ != 2 ||
        state_->attribute_(&context_, 1, address_) != 0 || !context_ || (buffer_->context_ && buffer_->context_ != context_) || state_->push_(context_) != 0)
        return 0;
    if (buffer_->stream_ || (state_->make_event_(&buffer_->events_[0], 2) == 0 && state_->make_event_(&buffer_->events_[1], 2) == 0 &&
                             state_->make_stream_(&buffer_->stream_, 1) == 0)) {
        buffer_->context_ = context_;
        return 1;
    }
    buffer_->stream_ = 0;
    (void)state_->pop_(&popped_);
    return 0;
}

// How many bytes from one on go into half of a buffer.
static inline ompsplit_size ompsplit_pin_size_(ompsplit_size at_, ompsplit_size bytes_, ompsplit_size half_)
{
    return bytes_ - at_ < half_ ? bytes_ - at_ : half_;
}

// Copies to the device: fills half of the buffer while the driver copies from the other.
static inline int ompsplit_pin_send_(struct ompsplit_pin_state_ *state_, struct ompsplit_pin_buffer_ *buffer_, const char *near_,
                                     char *far_, ompsplit_size bytes_)
{
    const ompsplit_size half_ = buffer_->bytes_ / 2;
    ompsplit_size at_;
    int error_ = 0, odd_ = 0;
    for (at_ = 0; at_ < bytes_ && !error_; at_ += half_, odd_ = !odd_) {
        const ompsplit_size size_ = ompsplit_pin_size_(at_, bytes_, half_);
        char *const memory_ = buffer_->memory_ + (odd_ ? half_ : 0);
        if (at_ > half_)
            error_ = state_->wait_for_event_(buffer_->events_[odd_]);
        __builtin_memcpy(memory_, near_ + at_, size_);
        error_ = error_ ? error_ : state_->to_device_((unsigned long long)(__UINTPTR_TYPE__)(far_ + at_), memory_, size_, buffer_->stream_);
        error_ = error_ ? error_ : state_->record_(buffer_->events_[odd_], buffer_->stream_);
    }
    return error_ ? error_ : state_->wait_for_stream_(buffer_->stream_);
}

// Copies from the device: empties half of the buffer while the driver copies into the other.
static inline int ompsplit_pin_fetch_(struct ompsplit_pin_state_ *state_, struct ompsplit_pin_buffer_ *buffer_, char *near_,
                                      const char *far_, ompsplit_size bytes_)
{
    const ompsplit_size half_ = buffer_->bytes_ / 2;
    ompsplit_size at_;
    int error_ = 0, odd_ = 0;
    // The driver is one part ahead.
    for (at_ = 0; at_ < bytes_ + half_ && !error_; at_ += half_, odd_ = !odd_) {
        if (at_ < bytes_) {
            error_ = state_->from_device_(buffer_->memory_ + (odd_ ? half_ : 0), (unsigned long long)(__UINTPTR_TYPE__)(far_ + at_),
                                          ompsplit_pin_size_(at_, bytes_, half_), buffer_->stream_);
            error_ = error_ ? error_ : state_->record_(buffer_->events_[odd_], buffer_->stream_);
        }
        if (at_ > 0 && !error_) {
            error_ = state_->wait_for_event_(buffer_->events_[!odd_]);
            __builtin_memcpy(near_ + at_ - half_, buffer_->memory_ + (odd_ ? 0 : half_), ompsplit_pin_size_(at_ - half_, bytes_, half_));
        }
    }
    return error_;
}

// Copies mapped memory to or from its place on the device through a buffer, or without one: by CUDA's driver, or by the runtime.
static inline int ompsplit_pin_through_(struct ompsplit_pin_buffer_ *buffer_, char *near_, char *far_, ompsplit_size bytes_,
                                        int to_device_)
{
    struct ompsplit_pin_state_ *state_ = &ompsplit_pin_state_3_;
    ompsplit_size at_, part_;
    void *popped_;
    int error_ = 0;
    if (buffer_ && ompsplit_pin_stream_(state_, buffer_, far_)) {
        error_ = to_device_ ? ompsplit_pin_send_(state_, buffer_, near_, far_, bytes_)
                            : ompsplit_pin_fetch_(state_, buffer_, near_, far_, bytes_);
        (void)state_->pop_(&popped_);
        return error_;
    }
    for (at_ = 0; at_ < bytes_ && !error_; at_ += part_) {
        part_ = ompsplit_pin_size_(at_, bytes_, buffer_ ? buffer_->bytes_ : bytes_);
        error_ = ompsplit_pin_part_(near_ + at_, far_ + at_, part_, buffer_ ? buffer_->memory_ : 0, to_device_);
    }
    return error_;
}

static inline void ompsplit_pin_copy_(const volatile void *start_, ompsplit_size bytes_, int to_device_)
{
    char *const near_ = (char *)(__UINTPTR_TYPE__)start_;
    // Null where the device reads and writes the host's memory.
    char *const far_ = (char *)ompsplit_omp_mapped_(near_, ompsplit_omp_default_device_());
    struct ompsplit_pin_buffer_ *const buffer_ = far_ ? ompsplit_pin_take_(bytes_) : 0;
    if (far_ && ompsplit_pin_through_(buffer_, near_, far_, bytes_, to_device_) != 0) {
        ompsplit_pin_print_(ompsplit_pin_stderr_, "ompsplit_pin: a copy of %zu bytes failed\n", bytes_);
        __builtin_abort();
    }
    if (buffer_)
        ompsplit_pin_give_(buffer_);
}

#endif

#pragma pack(pop)

#else

#ifdef _OPENMP

static inline void ompsplit_pin_copy_(const volatile void *start_, ompsplit_size bytes_, int to_device_)
{
    const int device_ = ompsplit_omp_default_device_(), initial_ = ompsplit_omp_initial_device_();
    void *const near_ = (void *)(ompsplit_size)start_;
    void *const far_ = ompsplit_omp_mapped_(near_, device_);
    if (far_ && ompsplit_omp_copy_(to_device_ ? far_ : near_, to_device_ ? near_ : far_, bytes_, 0, 0,
                                   to_device_ ? device_ : initial_, to_device_ ? initial_ : device_) != 0)
        abort();
}

#endif

static inline int ompsplit_pin(const void *start_, ompsplit_size bytes_)
{
    (void)start_;
    (void)bytes_;
    return 0;
}

static inline int ompsplit_pin_large(const void *start_, ompsplit_size bytes_, ompsplit_size least_)
{
    (void)least_;
    return ompsplit_pin(start_, bytes_);
}

static inline int ompsplit_unpin(const void *start_)
{
    (void)start_;
    return 0;
}

#endif

#ifndef _OPENMP

static inline void ompsplit_pin_copy_(const volatile void *start_, ompsplit_size bytes_, int to_device_)
{
    (void)start_;
    (void)bytes_;
    (void)to_device_;
}

#endif

// Copies `bytes_` bytes that are mapped to their place on the default device, and returns when that is done.
static inline void ompsplit_to_device(const volatile void *start_, ompsplit_size bytes_)
{
    ompsplit_pin_copy_(start_, bytes_, 1);
}

// The same from their place on the device.
static inline void ompsplit_from_device(const volatile void *start_, ompsplit_size bytes_)
{
    ompsplit_pin_copy_(start_, bytes_, 0);
}

#endif
