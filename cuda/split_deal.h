/*
 * How cuda_split deals filters to tiles, and what each has in a chunk of channels to the warps.
 * Host code, without a call of CUDA's.
 */
#ifndef CSRCONV_CUDA_SPLIT_DEAL_H
#define CSRCONV_CUDA_SPLIT_DEAL_H

#include "split_tiling.h"

/* What the filter of a place has in a chunk. */
struct csrconv_chunk_segment {
    int64_t place, from, to; /* nonzeros of the weights */
    int64_t way;             /* of the warps */
};

/*
 * ends[i * (chunks + 1) + c] is where the nonzeros of chunk c begin in the i-th filter of the
 * group, and those of the one before end.
 */
void csrconv_find_ends(const struct csrconv_problem *problem,
                       const struct csrconv_split_tiling *tiling, int64_t group, int64_t *ends);

/*
 * place_filter[tile * places + place] becomes the filter's number in its group, or -1. The tiles
 * have about equal work in each chunk, which is told by ends.
 */
csrconv_status csrconv_deal_filters(const struct csrconv_problem *problem,
                                    const struct csrconv_split_tiling *tiling, int64_t group,
                                    const int64_t *ends, struct csrconv_memory *memory,
                                    int64_t *place_filter);

/* Sorts the segments, and deals each to a warp: longest first, to that with least to do. */
void csrconv_deal_segments(struct csrconv_chunk_segment *segments, int64_t count, int64_t ways);

#endif
