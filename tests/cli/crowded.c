// A program whose macros and declarations have names that a header may not rely on.
#define active 1
#define at 2
#define block 16
#define bytes 3
#define device 4
#define end 5
#define error 6
#define format 7
#define i 8
#define name 9
#define old 10
#define printf 11
#define s 12
#define size_t unsigned
#define start 13
#define state 14
#define unused 15
#define use 17
#define visibility 18
#define weak 19
#define weakref 20

typedef long key_t, FILE, uintptr_t, pid_t;
struct timespec { int sum; };
typedef struct { int quotient; } div_t;
enum { NULL, RTLD_NOW, EOF, SCHED_FIFO };
static long select(const int *p, int k) { return p[k]; }
static int index(const int *p) { return p[0]; }
static int write(const int *p) { return p[1]; }
static long div(const int *p) { return p[2]; }
static int stdout;

#pragma pack(push, 1)
#include "ompsplit_pin.h"
struct packed { char c; int n; };
typedef char is_packed[sizeof(struct packed) == 5 ? 1 : -1];
typedef char is_not_packed[__alignof__(struct ompsplit_pin_state_) == sizeof(void *) ? 1 : -1];
#pragma pack(pop)

int crowded(const int *p)
{
    struct timespec sum = {stdout};
    key_t first = select(p, EOF) + div(p);
    return !ompsplit_is_absent(p) + ompsplit_pin(p, block) + ompsplit_unpin(p) + index(p) + write(p) + sum.sum + (int)first;
}
