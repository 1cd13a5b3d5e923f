/*
 * The compiled plan of cuda_jit, in one piece of memory: how the problem is cut, and the machine
 * code of each kernel.
 */
#ifndef CSRCONV_JIT_IMAGE_H
#define CSRCONV_JIT_IMAGE_H

#include "jit_compile.h"
#include "jit_tiling.h"

struct csrconv_jit_image {
    struct csrconv_jit_tiling tiling;
    int64_t kernels;
    int64_t bytes;   /* of all of it */
    int64_t begin[]; /* of each kernel's code, from the begin of the image; then the end */
};

static inline const void *csrconv_jit_image_code(const struct csrconv_jit_image *image,
                                                 int64_t kernel)
{
    return (const char *)image + image->begin[kernel];
}

/* Prints and assembles all kernels, on the threads of the problem's team. */
csrconv_status csrconv_jit_image_make(const struct csrconv_problem *problem,
                                      const struct csrconv_jit_tiling *tiling, int capability,
                                      struct csrconv_memory *memory,
                                      struct csrconv_jit_image **image);

#endif
