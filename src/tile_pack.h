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

/*
 * Lays out channels [begin, end), borders included: writes channel_stride positions for each, from
 * `to` on.
 */
void csrconv_pack_channels(const struct csrconv_tile_layout *layout,
                           const struct csrconv_tile_isa *isa,
                           const struct csrconv_image_block *block, int64_t begin, int64_t end,
                           float *to);

/* A stretch of positions that is a stretch of an output row. */
struct csrconv_stretch_of_row {
    int32_t position; /* among those stored together */
    int32_t length;
    int64_t output; /* in the output plane */
};

/*
 * The stretches of positions [begin, end), which stand at `position` and on among those stored
 * together. Returns how many there are, at most end - begin.
 */
int64_t csrconv_find_stretches(const struct csrconv_tile_layout *layout,
                               const struct csrconv_shape *shape, int64_t begin, int64_t end,
                               int64_t position, struct csrconv_stretch_of_row *stretches);

/* The sums of one filter over some positions, and where they go. */
struct csrconv_stored {
    csrconv_finish finish; /* that stores them */
    const struct csrconv_stretch_of_row *stretches;
    int64_t count;
    int64_t vectors; /* that hold the sums */
    const float *sums;
    float *spare; /* for vectors rounded up to a multiple of lanes */
};

/* Stores them for filter m of the block's images, epilogue applied. */
void csrconv_store_sums(const struct csrconv_tile_layout *layout,
                        const struct csrconv_tile_isa *isa, const struct csrconv_image_block *block,
                        const struct csrconv_stored *stored, int64_t m);

#endif
