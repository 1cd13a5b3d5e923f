/*
 * The tiles of outputs that are worth considering for a block of threads, whatever kernel it runs:
 * host code, without a call of CUDA's.
 */
#ifndef CSRCONV_CUDA_TILE_SEARCH_H
#define CSRCONV_CUDA_TILE_SEARCH_H

#include "patch.h"

typedef void (*csrconv_tile_visit)(void *context, const struct csrconv_patch *patch);

/*
 * Visits the patches whose outputs lie within `words` words: of whole lines where these fit, of as
 * many images as fit, of all rows or a few, cut evenly; for copies of up to `widest` floats.
 */
void csrconv_tile_each(const struct csrconv_shape *shape, int64_t words, int64_t widest,
                       csrconv_tile_visit visit, void *context);

/* How many tiles of the patch's size the images, rows and columns of the outputs are cut into. */
int64_t csrconv_image_tiles(const struct csrconv_shape *shape, const struct csrconv_patch *patch);
int64_t csrconv_row_tiles(const struct csrconv_shape *shape, const struct csrconv_patch *patch);
int64_t csrconv_column_tiles(const struct csrconv_shape *shape, const struct csrconv_patch *patch);

#endif
