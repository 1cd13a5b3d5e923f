/* The least that a thread of the blocked kernels computes at a time. */
#ifndef CSRCONV_TILE_TASK_H
#define CSRCONV_TILE_TASK_H

#include "segments.h"
#include "tile_pack.h"
#include "tiling.h"

/* Tiles [begin, end), which are stored together, of one image block for the filters of one chunk.
 */
struct csrconv_tile_task {
    const struct csrconv_tile_isa *isa;
    const struct csrconv_tiling *tiling;
    const struct csrconv_segments *segments;
    struct csrconv_image_block block;
    const float *inputs; /* of position 0 */
    int64_t chunk, begin, end;
    bool is_from_memory; /* inputs that are read in place */
    bool is_streamed;    /* outputs go past the caches */
    /* Scratch of the worker. */
    float *sums;
    float *spare;
    struct csrconv_stretch_of_row *stretches;
};

void csrconv_tile_task_run(const struct csrconv_tile_task *task);

#endif
