/*
 * The weights as the blocks of cuda_split read them: one list for each filter tile and chunk of
 * channels, of the same length for all, so that a block knows where its own lies and brings it in
 * one go. Host code, without a call of CUDA's.
 *
 * A tile has places for filter_ways * filters filters. Within a chunk they are dealt to the warps
 * such that all have about as many nonzeros, so a warp has other places in another chunk. A list
 * begins with words: where in it each warp's quads begin; of the segments of all warps in turn the
 * quads, shifted up by CSRCONV_PLACE_BITS, and the place; the filters of the places, -1 for none;
 * their biases. The warps' quads follow: two nonzeros each as in row_streams.h, segment by segment,
 * and last of each warp one that adds nothing.
 */
#ifndef CSRCONV_CUDA_CHUNK_LISTS_H
#define CSRCONV_CUDA_CHUNK_LISTS_H

#include "row_streams.h"

enum { CSRCONV_PLACE_BITS = 8 };

struct csrconv_chunk_lists {
    int64_t count; /* filter tiles of all groups, times chunks, which count faster */
    int64_t pitch; /* quads from a list to the next */
    struct csrconv_quad *quads;
};

/* Quads that the words before the first warp's take. */
int64_t csrconv_chunk_list_head(const struct csrconv_block_tiling *tiling);

/* After a failure the caller frees what was made. */
csrconv_status csrconv_chunk_lists_make(const struct csrconv_problem *problem,
                                        const struct csrconv_block_tiling *tiling,
                                        struct csrconv_memory *memory,
                                        struct csrconv_chunk_lists *lists);
void csrconv_chunk_lists_free(const struct csrconv_memory *memory,
                              struct csrconv_chunk_lists *lists);

#endif
