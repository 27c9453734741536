// What main.c asks of the other parts of the harness.
#ifndef HARNESS_H
#define HARNESS_H

#include <stdint.h>

void release_arrays(void);
void pin_arrays(int pinned); // holds for arrays allocated from now on
void seed_inputs(uint64_t seed);
void set_tunable(const char *name, int value);

void note_arrays(void);   // what all arrays of floats and ints hold now
void print_changes(void); // a word for each of them: a number of its bits, or `-` where it holds what was noted

void begin_checks(void);
const char *first_failure(void); // NULL when every check since `begin_checks` held
double largest_error(void);

#endif
