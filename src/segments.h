/*
 * The weights of a plan in the order in which the blocked kernels walk them: by chunks of filters,
 * within these by blocks of channels small enough that their inputs stay in the first cache, within
 * these by filter. What a filter has in a block is a segment. A filter's sums wait in memory
 * between its segments.
 */
#ifndef CSRCONV_SEGMENTS_H
#define CSRCONV_SEGMENTS_H

#include "csr.h"
#include "memory.h"
#include "tile_layout.h"

#include <stdbool.h>

struct csrconv_nonzero {
    int32_t offset; /* in floats, from the input of the tile's first position */
    float value;
};

struct csrconv_segment {
    int64_t begin; /* of its nonzeros; they end where the next segment begins */
    int32_t filter;
    int8_t is_first; /* of the filter: sums start from the bias */
};

struct csrconv_segments {
    int64_t chunks;
    int64_t blocks;
    int64_t block_channels;
    int64_t chunk_filters;            /* the most that a chunk has */
    int64_t *chunk_begin;             /* chunks + 1, first filters */
    int64_t *block_begin;             /* chunks * blocks + 1, first segments */
    struct csrconv_segment *segments; /* and one more, that begins at the end */
    struct csrconv_nonzero *nonzeros;
};

/* In how many blocks and chunks to cut. */
struct csrconv_cut {
    int64_t block_channels;
    int64_t chunks;       /* of about the same number of nonzeros */
    bool is_as_they_come; /* filters keep their order, whatever the lengths of their segments */
};

/* Fills *segments from memory; csrconv_segments_free is right after a failure too. */
csrconv_status csrconv_segments_make(const struct csrconv_weights *weights,
                                     const struct csrconv_shape *shape,
                                     const struct csrconv_tile_layout *layout,
                                     const struct csrconv_cut *cut, struct csrconv_memory *memory,
                                     struct csrconv_segments *segments);
void csrconv_segments_free(const struct csrconv_memory *memory, struct csrconv_segments *segments);

/*
 * How many (filter, block) pairs hold a nonzero if blocks have so many channels: counted on every
 * `step`-th filter, and scaled. A step of 1 is exact.
 */
int64_t csrconv_count_segments(const struct csrconv_weights *weights,
                               const struct csrconv_shape *shape, int64_t block_channels,
                               int64_t step);

#endif
