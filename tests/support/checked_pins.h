/* Stands behind `ompsplit_pin.h` in the tests: counts what is page-locked, since no driver is there that would, and lets tiles run
   where ThreadSanitizer watches the host alone. */
#ifndef CHECKED_PINS_H
#define CHECKED_PINS_H
#include <stdio.h>
#include <stdlib.h>

static struct { const void *start; int count; } checked_pins[256];
static int checked_pins_used, checked_pins_wrong;

static inline void checked_pins_add(const void *start, int count)
{
    int i;
    for (i = 0; i < checked_pins_used && checked_pins[i].start != start; i++)
        continue;
    if (i == checked_pins_used) {
        if (i == 256)
            abort();
        checked_pins[checked_pins_used++].start = start;
    }
    checked_pins[i].count += count;
    checked_pins_wrong |= checked_pins[i].count < 0;
}

static inline int checked_pins_pin(const void *start, size_t bytes)
{
    checked_pins_add(start, 1);
    return ompsplit_pin(start, bytes);
}

static inline int checked_pins_unpin(const void *start)
{
    checked_pins_add(start, -1);
    return ompsplit_unpin(start);
}

/* Complains about what is still locked, or was unlocked too often; then begins anew. */
static inline void checked_pins_end(void)
{
    int i;
    for (i = 0; i < checked_pins_used; i++)
        checked_pins_wrong |= checked_pins[i].count != 0;
    if (checked_pins_wrong)
        printf("locked and unlocked not equally often\n");
    checked_pins_used = checked_pins_wrong = 0;
}

__attribute__((destructor)) static void checked_pins_exit(void) { checked_pins_end(); }

#define ompsplit_pin(start, bytes) checked_pins_pin(start, bytes)
/* Whether little is locked or not, it is unlocked. */
#define ompsplit_pin_large(start, bytes, least) ((void)(least), checked_pins_pin(start, bytes))
#define ompsplit_unpin(start) checked_pins_unpin(start)
#define CHECKED_PINS_END() checked_pins_end()
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define ompsplit_is_absent(start) ((void)(start), ompsplit_is_alone())
/* The copies of tiles, in the one memory that is there: what goes to the device is written there, what comes back read. */
#ifdef __cplusplus
extern "C" {
#endif
void __tsan_write_range(void *, unsigned long);
void __tsan_read_range(void *, unsigned long);
#ifdef __cplusplus
}
#endif
#define ompsplit_to_device(start, bytes) __tsan_write_range((void *)(start), bytes)
#define ompsplit_from_device(start, bytes) __tsan_read_range((void *)(start), bytes)
/* The runtime that knows of devices is not there. */
#define omp_target_is_present checked_pins_is_present
#ifdef __cplusplus
extern "C"
#endif
__attribute__((weak)) int checked_pins_is_present(const void *start, int device)
{
    (void)start, (void)device;
    return 0;
}
#endif
#endif
#endif
