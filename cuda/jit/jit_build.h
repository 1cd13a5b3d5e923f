/* Makes the compiled plan of cuda_jit. */
#ifndef CSRCONV_JIT_BUILD_H
#define CSRCONV_JIT_BUILD_H

#include "jit_image.h"

/* Prints and assembles all units, on the threads of the problem's team, and links them. */
csrconv_status csrconv_jit_build(const struct csrconv_problem *problem,
                                 const struct csrconv_jit_tiling *tiling, int capability,
                                 struct csrconv_memory *memory, struct csrconv_jit_image **image);

#endif
