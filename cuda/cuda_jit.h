/* cuda_jit with a tiling that is given, for programs that measure tilings. */
#ifndef CSRCONV_CUDA_JIT_H
#define CSRCONV_CUDA_JIT_H

#include "jit_tiling.h"

/* What prepare does once it has chosen; the algorithm's other functions take it from there. */
csrconv_status csrconv_jit_prepare_as(const struct csrconv_problem *problem,
                                      const struct csrconv_jit_tiling *tiling,
                                      struct csrconv_prepared *prepared);

#endif
