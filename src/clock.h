/* A clock to measure by, for the library and the tools. */
#ifndef CSRCONV_CLOCK_H
#define CSRCONV_CLOCK_H

#include <time.h>

/* Microseconds of wall time from some start. */
static inline double clock_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec * 1e-3;
}

#endif
