#include "quads.h"

#include "csr.h"

#include <string.h>

csrconv_status csrconv_quad_writer_init(const struct csrconv_problem *problem,
                                        const struct csrconv_block_tiling *tiling,
                                        struct csrconv_memory *memory,
                                        struct csrconv_quad_writer *writer)
{
    const struct csrconv_shape *shape = &problem->shape;
    const int64_t width = shape->g.kernel_w, count = shape->g.kernel_h * width;
    csrconv_status status;
    *writer = (struct csrconv_quad_writer){ problem, tiling, NULL };
    status = csrconv_allocate(memory, count, sizeof *writer->offsets, (void **)&writer->offsets);
    for (int64_t i = 0; i < count && !status; i++)
        writer->offsets[i] = csrconv_patch_offset(shape, &tiling->patch, i / width, i % width);
    return status;
}

void csrconv_quad_writer_free(const struct csrconv_memory *memory,
                              struct csrconv_quad_writer *writer)
{
    csrconv_release(memory, writer->offsets);
    writer->offsets = NULL;
}

struct csrconv_quad csrconv_quad_of_nothing(const struct csrconv_block_tiling *tiling)
{
    const uint32_t offset = (uint32_t)(tiling->zeros * (int64_t)sizeof(float));
    return (struct csrconv_quad){ { offset, 0, offset, 0 } };
}

/* Bytes from the stage's start to the input of a nonzero, for the tile's first output. */
static uint32_t stage_offset(const struct csrconv_quad_writer *writer, int64_t column,
                             int64_t first_channel)
{
    const csrconv_geometry *g = &writer->problem->shape.g;
    const int64_t weights = g->kernel_h * g->kernel_w;
    const int64_t channel = column / weights - first_channel;
    const int64_t floats =
        channel * writer->tiling->patch.channel + writer->offsets[column % weights];
    return (uint32_t)floats * (uint32_t)sizeof(float);
}

struct csrconv_quad *csrconv_write_quads(const struct csrconv_quad_writer *writer, int64_t from,
                                         int64_t to, int64_t first_channel,
                                         struct csrconv_quad *quad)
{
    const struct csrconv_weights *weights = writer->problem->weights;
    for (int64_t i = from; i < to; i++) {
        uint32_t *word = quad->word + (i - from) % 2 * 2;
        if (word == quad->word)
            *quad = csrconv_quad_of_nothing(writer->tiling);
        word[0] = stage_offset(writer, weights->indices[i], first_channel);
        memcpy(word + 1, weights->values + i, sizeof *word);
        quad += (i - from) % 2;
    }
    return quad + (to - from) % 2;
}
