/*
 * The compiled plan of cuda_jit as bytes to be kept, which src/blob.h puts into an envelope: the
 * numbers of the tiling, each in 8 bytes, then the code.
 */
#ifndef CSRCONV_JIT_CONTENTS_H
#define CSRCONV_JIT_CONTENTS_H

#include "jit_image.h"

/* Bytes that the image takes; written unless NULL. */
size_t csrconv_jit_contents(const struct csrconv_jit_image *image, void *bytes);

/*
 * What the bytes that the problem brings say. CSRCONV_BAD_BLOB if they are no plan of such a
 * problem: then nothing of them was used. What the code does is not looked at.
 */
csrconv_status csrconv_jit_contents_tiling(const struct csrconv_problem *problem,
                                           struct csrconv_jit_tiling *tiling);

/* All of it. */
csrconv_status csrconv_jit_contents_image(const struct csrconv_problem *problem,
                                          struct csrconv_memory *memory,
                                          struct csrconv_jit_image **image);

#endif
