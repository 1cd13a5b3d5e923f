/* Between the caller's NCHW tensors and the lines of positions that tiles are cut from. */
#ifndef CSRCONV_TILE_PACK_H
#define CSRCONV_TILE_PACK_H

#include "algorithm.h"
#include "tile_isa.h"

/* Images [first, first + count) of a run as one image block; count <= lanes, or 1. */
struct csrconv_image_block {
    const struct csrconv_run *run;
    int64_t first, count;
};

/* Lays out one channel, borders included: writes channel_stride positions at `to`. */
void csrconv_pack_channel(const struct csrconv_tile_layout *layout,
                          const struct csrconv_tile_isa *isa,
                          const struct csrconv_image_block *block, int64_t c, float *to);

/* A stretch of a tile's positions that is a stretch of an output row. */
struct csrconv_stretch_of_row {
    int32_t position; /* in the tile */
    int32_t length;
    int64_t output; /* in the output plane */
};

/* The stretches of positions [begin, end), whose first is position 0 of the tile at `load`. */
int csrconv_tile_stretches(const struct csrconv_tile_layout *layout,
                           const struct csrconv_shape *shape, int64_t load, int64_t begin,
                           int64_t end, struct csrconv_stretch_of_row *stretches);

enum { CSRCONV_MOST_TILE_POSITIONS = 32 * 16 };

/*
 * Stores the sums of filter m over a tile, epilogue applied. spare has room for as many floats as
 * the tile, rounded up to lanes in both directions.
 */
void csrconv_store_tile(const struct csrconv_tile_layout *layout,
                        const struct csrconv_tile_isa *isa, const struct csrconv_image_block *block,
                        const struct csrconv_stretch_of_row *stretches, int count, int64_t m,
                        int64_t tile_vectors, const float *sums, float *spare);

#endif
