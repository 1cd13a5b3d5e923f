/*
 * The fast kernels without one of their choices, each as an algorithm of its own, so that it is
 * planned, verified and timed like any other: what the choice is worth is the ratio of the times.
 */
#ifndef CSRCONV_TOOLS_ABLATION_H
#define CSRCONV_TOOLS_ABLATION_H

#include "csrconv.h"

/*
 * NULL-ended; the first, "complete", is without nothing. All refuse where the kernel does not run:
 * the blocked ones on the CPU, cuda_tiled on a GPU.
 */
extern const csrconv_algorithm *const ablation_cpu_table[];
extern const csrconv_algorithm *const ablation_cuda_table[];

const csrconv_algorithm *const *ablation_table(csrconv_device device);

#endif
