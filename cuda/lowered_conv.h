/*
 * What the GEMM and SpMM peers share: the walk over the chunks of a batch, each lowered, multiplied
 * by the library and stored, and the contest that finds the fastest way at plan time.
 */
#ifndef CSRCONV_CUDA_LOWERED_CONV_H
#define CSRCONV_CUDA_LOWERED_CONV_H

#include "lowering.h"
#include "runtime.h"

/* The weights of each group times the lowered matrix of each image of a chunk, or of all at once.
 */
struct csrconv_multiplication {
    const float *lowered;
    struct csrconv_strides from;
    float *product;
    struct csrconv_strides to;
    int64_t images, pixels; /* matrices of a group, and columns of each; a wide one is alone */
    int kernel;             /* of the way */
    void *scratch;          /* scratch_bytes of the workspace */
    cudaStream_t stream;
};

/* A lowering, and which of its library's algorithms multiplies, in the peer's own counting. */
struct csrconv_lowered_way {
    struct csrconv_lowering lowering;
    int kernel;
};

/* A peer's state begins with one, so that the functions which take a state can be its own. */
struct csrconv_lowered_conv {
    struct csrconv_lowered_way way;
    float *bias; /* on the device; NULL: none */
    size_t scratch_bytes;
    void *peer;
    /* Queues it; overwrites the product. */
    csrconv_status (*multiply)(void *peer, const struct csrconv_shape *shape,
                               const struct csrconv_multiplication *m);
    /* Drops what multiply keeps of another way; NULL: it keeps nothing. At plan time only. */
    void (*forget)(void *peer);
};

/* What a contest found: of so many images, all of it, and its parts by themselves. */
struct csrconv_lowered_times {
    int64_t images;
    double all_us, lowering_us, product_us;
};

/*
 * Sets conv->way to the fastest of the ways, run on the first `images` images of made-up tensors,
 * and runs that one once more. Reorders the ways.
 */
csrconv_status csrconv_lowered_choose(struct csrconv_lowered_conv *conv,
                                      const struct csrconv_problem *problem,
                                      struct csrconv_lowered_way *ways, int count, int64_t images,
                                      struct csrconv_lowered_times *times);

/* Fills workspace_bytes, is_in_place, variant and detail; `kernel` names what multiplies. */
void csrconv_lowered_describe(const struct csrconv_lowered_conv *conv,
                              const struct csrconv_shape *shape,
                              const struct csrconv_lowered_times *times, const char *kernel,
                              struct csrconv_prepared *prepared);

/* The lowering alone, where one pass lowers the whole batch. */
csrconv_status csrconv_lowered_lay_out(const void *state, const struct csrconv_run *run);

csrconv_status csrconv_lowered_execute(const void *state, const struct csrconv_run *run);

#endif
