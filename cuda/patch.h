/*
 * The part of an input channel that a block of threads works on, as it lies in shared memory, and
 * which lane takes which output: host code, without a call of CUDA's.
 *
 * A tile is `images` x `rows` x `columns` of outputs. The input that it reads, zero borders
 * included, is the patch: `height` x `width` of each image, a row every `pitch` floats.
 */
#ifndef CSRCONV_CUDA_PATCH_H
#define CSRCONV_CUDA_PATCH_H

#include "geometry.h"

#include <stdbool.h>

enum {
    CSRCONV_BANKS = 32, /* of shared memory, a word wide; and lanes of a warp */
    CSRCONV_MOST_TILE_IMAGES = 1 << 10,
    CSRCONV_MOST_TILE_SIDE = 1 << 10
};

struct csrconv_patch {
    int64_t images, rows, columns;
    int64_t stride_h, stride_w;
    int64_t height, width;
    int64_t vector; /* floats that a copy brings at once, if the caller's pointer allows */
    int64_t lead;   /* floats before the first of the patch, so that the input's are aligned */
    int64_t pitch, image_pitch, channel_pitch; /* floats from a row, image, channel to the next */
};

/*
 * The patch of a tile, its pitches such that the outputs of `passes` * CSRCONV_BANKS slots meet
 * each bank as evenly as they can: an output reads bank (its address + the nonzero's offset) mod
 * CSRCONV_BANKS, and the offset is the same for all. False if it is larger than any shared memory.
 */
bool csrconv_patch_make(const struct csrconv_shape *shape, int64_t images, int64_t rows,
                        int64_t columns, int64_t passes, struct csrconv_patch *patch);

/* Floats from the start of a channel to the window of an output of the tile. */
static inline int64_t csrconv_patch_at(const struct csrconv_patch *patch, int64_t image,
                                       int64_t row, int64_t column)
{
    return patch->lead + image * patch->image_pitch + row * patch->stride_h * patch->pitch +
           column * patch->stride_w;
}

/* What a lane does in one pass: the output's place in the tile, and where its window begins. */
struct csrconv_slot {
    int32_t offset; /* bytes; of an unused slot, a word that is there */
    int32_t place;  /* image << 20 | row << 10 | column; -1: unused */
};

/*
 * Fills passes * CSRCONV_BANKS slots, a pass after the other. Lanes take outputs by bank, so that
 * the lanes of a pass meet no bank twice as long as no bank has more outputs than there are passes.
 * Returns the wavefronts that the passes take: `passes` if no two lanes meet.
 */
int64_t csrconv_patch_slots(const struct csrconv_patch *patch, int64_t passes,
                            struct csrconv_slot *slots);

#endif
