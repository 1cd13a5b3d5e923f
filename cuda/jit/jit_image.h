/*
 * The compiled plan of cuda_jit, in one piece of memory: how the problem is cut, and the machine
 * code of each kernel.
 */
#ifndef CSRCONV_JIT_IMAGE_H
#define CSRCONV_JIT_IMAGE_H

#include "jit_tiling.h"

enum { CSRCONV_JIT_CODE_ALIGNMENT = 64 };

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

/* What code of so many bytes takes. */
int64_t csrconv_jit_code_room(int64_t bytes);

/* An image without a kernel yet, for so many, whose code takes so much room in all. */
csrconv_status csrconv_jit_image_make(const struct csrconv_jit_tiling *tiling, int64_t kernels,
                                      int64_t room, struct csrconv_memory *memory,
                                      struct csrconv_jit_image **image);

/* Copies the next kernel's code to it. */
void csrconv_jit_image_add(struct csrconv_jit_image *image, const void *code, int64_t bytes);

#endif
