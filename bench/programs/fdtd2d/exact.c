// Nothing quicker is known that changes no sum.
#include "pragmas.c"
