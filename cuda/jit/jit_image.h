/* The compiled plan of cuda_jit, in one piece of memory: how the problem is cut, and its code. */
#ifndef CSRCONV_JIT_IMAGE_H
#define CSRCONV_JIT_IMAGE_H

#include "jit_tiling.h"

struct csrconv_jit_image {
    struct csrconv_jit_tiling tiling;
    int64_t code_bytes;
    _Alignas(64) char code[];
};

/* With room for so much code, to be filled in. */
csrconv_status csrconv_jit_image_make(const struct csrconv_jit_tiling *tiling, int64_t code_bytes,
                                      struct csrconv_memory *memory,
                                      struct csrconv_jit_image **image);

#endif
