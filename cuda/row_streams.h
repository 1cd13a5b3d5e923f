/*
 * The weights as the warps of cuda_tiled read them: one stream of 16-byte quads for each warp of
 * filters, from front to back. Host code, without a call of CUDA's.
 *
 * For each stage a stream has a quad of counts, 16 bits for each filter of the warp: how many quads
 * the filter has in the stage. These follow, and last a quad that adds nothing, since a warp loads
 * the inputs of the quad that follows the one it multiplies.
 */
#ifndef CSRCONV_CUDA_ROW_STREAMS_H
#define CSRCONV_CUDA_ROW_STREAMS_H

#include "quads.h"

/* Warps copy their streams in parts of so many quads, three of them ahead: also past the end. */
enum { CSRCONV_STREAM_PART = 32, CSRCONV_QUADS_AHEAD = 3 * CSRCONV_STREAM_PART };

struct csrconv_row_streams {
    int64_t warps;              /* groups * filter_tiles * filter_ways, in that order */
    int64_t *start;             /* warps + 1, in quads */
    int64_t *filter;            /* warps * filters of a warp: which one, or -1 */
    struct csrconv_quad *quads; /* start[warps] + CSRCONV_QUADS_AHEAD */
};

/*
 * Filters are dealt to the warps such that all have about as many nonzeros, unless the problem is
 * to do without (row_order). After a failure the caller frees what was made.
 */
csrconv_status csrconv_row_streams_make(const struct csrconv_problem *problem,
                                        const struct csrconv_block_tiling *tiling,
                                        struct csrconv_memory *memory,
                                        struct csrconv_row_streams *streams);
void csrconv_row_streams_free(const struct csrconv_memory *memory,
                              struct csrconv_row_streams *streams);

#endif
