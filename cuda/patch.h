/*
 * The part of an input channel that a block of threads works on, as it lies in shared memory: host
 * code, without a call of CUDA's.
 *
 * A tile is `images` x `rows` x `columns` of outputs. What it reads of a channel, zero borders
 * included, is laid out such that neighbouring outputs read neighbouring words for every weight:
 * lane i of a pass reads word 32 * pass + i, plus an offset that is the weight's and the same for
 * all. A stride is taken out by splitting rows and columns into phases, a plane for each phase that
 * a weight meets. Where there is no stride, rows share the zeros between them: the border on the
 * right of one is that on the left of the next, and images share those above and below.
 */
#ifndef CSRCONV_CUDA_PATCH_H
#define CSRCONV_CUDA_PATCH_H

#include "geometry.h"

#include <stdbool.h>

enum {
    CSRCONV_LANES = 32,
    CSRCONV_MOST_TILE_IMAGES = 1 << 10, /* places are packed into 31 bits */
    CSRCONV_MOST_TILE_SIDE = 1 << 10
};

struct csrconv_patch {
    int64_t images, rows, columns;
    int64_t height, width; /* of the input that an image's outputs read, borders included */
    int64_t row_phases, column_phases; /* that weights meet */
    int64_t vector;                    /* floats that a copy brings at once, if pointers allow */
    int64_t lead; /* floats before the first, so that the input's are aligned */
    int64_t pitch, image_pitch, plane; /* floats from a row, image, phase to the next */
    int64_t channel;                   /* floats from a channel to the next */
    int64_t span;                      /* words from the first output's to past the last one's */
};

/*
 * The patch of a tile, for copies of `vector` floats (1, or csrconv_patch_widest). False if it is
 * larger than any shared memory.
 */
bool csrconv_patch_make(const struct csrconv_shape *shape, int64_t images, int64_t rows,
                        int64_t columns, int64_t vector, struct csrconv_patch *patch);

/* Floats of the widest copies (1, 2 or 4) that keep to the input's rows, of tiles so wide. */
int64_t csrconv_patch_widest(const struct csrconv_shape *shape, int64_t columns);

/* Floats from the start of a channel to the input of weight (r, s) for the tile's first output. */
int64_t csrconv_patch_offset(const struct csrconv_shape *shape, const struct csrconv_patch *patch,
                             int64_t r, int64_t s);

/*
 * Where the phases' planes begin: offsets[phase] in floats, -1 where no weight meets the phase. Of
 * the rows (stride_h entries) or of the columns (stride_w).
 */
void csrconv_patch_row_phases(const struct csrconv_shape *shape, const struct csrconv_patch *patch,
                              int32_t *offsets);
void csrconv_patch_column_phases(const struct csrconv_shape *shape,
                                 const struct csrconv_patch *patch, int32_t *offsets);

/*
 * Which output each of `words` words belongs to: image << 20 | row << 10 | column within the tile,
 * or -1 for one between rows, between images or past the last.
 */
void csrconv_patch_places(const struct csrconv_patch *patch, int64_t words, int32_t *places);

#endif
