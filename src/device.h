/* Which device a plan is for. */
#ifndef CSRCONV_DEVICE_H
#define CSRCONV_DEVICE_H

#include "algorithm.h"

/* Replaces CSRCONV_DEVICE_AUTO by what there is; fails as csrconv_device_usable does. */
csrconv_status csrconv_device_resolve(csrconv_device *device, int ordinal);

/*
 * Makes the problem's GPU current for the calling thread, and restores what was current before:
 * around everything that an algorithm does. Nothing for the CPU.
 */
csrconv_status csrconv_device_enter(const struct csrconv_problem *problem, int *previous);
void csrconv_device_leave(const struct csrconv_problem *problem, int previous);

/* Microseconds of a good dense convolution on the problem's device: the bar to clear. */
double csrconv_dense_us(const struct csrconv_problem *problem);

#endif
