/*
 * Nonzeros as the warps of cuda_tiled and cuda_split read them: two in a quad of 16 bytes, offset
 * in bytes of the input from the stage's start, bits of the value, and the same again. Where there
 * is no second one, its value is zero and its offset that of zeros, so that it adds nothing
 * whatever the input holds. Host code, without a call of CUDA's.
 */
#ifndef CSRCONV_CUDA_QUADS_H
#define CSRCONV_CUDA_QUADS_H

#include "block_tiling.h"

struct csrconv_quad {
    uint32_t word[4];
};

/* What quads are written from, with the offset of each of the R * S weights of a channel. */
struct csrconv_quad_writer {
    const struct csrconv_problem *problem;
    const struct csrconv_block_tiling *tiling;
    int64_t *offsets; /* in floats */
};

/* After a failure there is nothing to free. */
csrconv_status csrconv_quad_writer_init(const struct csrconv_problem *problem,
                                        const struct csrconv_block_tiling *tiling,
                                        struct csrconv_memory *memory,
                                        struct csrconv_quad_writer *writer);
void csrconv_quad_writer_free(const struct csrconv_memory *memory,
                              struct csrconv_quad_writer *writer);

/* Quads of so many nonzeros. */
static inline int64_t csrconv_quads_of(int64_t nonzeros)
{
    return (nonzeros + 1) / 2;
}

/* Two nonzeros that add nothing. */
struct csrconv_quad csrconv_quad_of_nothing(const struct csrconv_block_tiling *tiling);

/*
 * Writes the weights' nonzeros from..to of a filter, of a stage whose first channel of the group is
 * first_channel; returns what is behind.
 */
struct csrconv_quad *csrconv_write_quads(const struct csrconv_quad_writer *writer, int64_t from,
                                         int64_t to, int64_t first_channel,
                                         struct csrconv_quad *quad);

#endif
