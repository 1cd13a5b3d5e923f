#include "jit_contents.h"

#include "integers.h"
#include "status.h"

#include <inttypes.h>
#include <string.h>

enum { NUMBER = 8 };

/* Every number of a tiling but is_flat and the estimate, and what it is at least and at most. */
#define MEMBER(name, least, most)                                                                  \
    {                                                                                              \
        offsetof(struct csrconv_jit_tiling, name), least, most, #name                              \
    }
static const struct member {
    size_t offset;
    int64_t least, most;
    const char *name;
} members[] = {
    MEMBER(threads, 1, CSRCONV_JIT_MOST_THREADS),
    MEMBER(residents, 1, CSRCONV_JIT_MOST_THREADS),
    MEMBER(span, 1, CSRCONV_JIT_MOST_THREADS),
    MEMBER(rows, 0, CSRCONV_JIT_MOST_THREADS),
    MEMBER(columns, 0, CSRCONV_JIT_MOST_THREADS),
    MEMBER(row_tiles, 1, INT32_MAX),
    MEMBER(column_tiles, 1, INT32_MAX),
    MEMBER(slots, 1, CSRCONV_JIT_MOST_THREADS),
    MEMBER(stage_rows, 1, INT32_MAX),
    MEMBER(stage_columns, 1, INT32_MAX),
    MEMBER(row_pitch, 1, INT32_MAX),
    MEMBER(channel_pitch, 1, INT32_MAX),
    MEMBER(slot_pitch, 1, INT32_MAX),
    MEMBER(stage_channels, 1, INT32_MAX),
    MEMBER(stages, 1, INT32_MAX),
    MEMBER(ring, 1, INT32_MAX),
    MEMBER(stage_words, 1, INT32_MAX),
    MEMBER(chunks, 1, CSRCONV_JIT_MOST_CHUNKS),
    MEMBER(filters, 1, INT32_MAX),
    MEMBER(panels, 1, CSRCONV_JIT_MOST_PANELS),
    MEMBER(unit_parts, 1, CSRCONV_JIT_MOST_PANELS *CSRCONV_JIT_MOST_CHUNKS),
    MEMBER(step, 0, INT32_MAX),
    MEMBER(blocks, 1, INT64_MAX),
    MEMBER(table_bytes, 1, INT32_MAX),
    MEMBER(header_bytes, 1, INT32_MAX),
    MEMBER(shared_bytes, 1, INT32_MAX),
};

enum { MEMBERS = sizeof members / sizeof *members, IS_FLAT = MEMBERS, TRIMS, NUMBERS };
enum { HEAD = NUMBERS * NUMBER };

_Static_assert(sizeof(struct csrconv_jit_tiling) ==
                   MEMBERS * sizeof(int64_t) + sizeof(int64_t) + sizeof(double),
               "a member of the tiling is not kept");

static void put_number(uint8_t *bytes, int64_t index, int64_t number)
{
    for (int i = 0; i < NUMBER; i++)
        bytes[index * NUMBER + i] = (uint8_t)((uint64_t)number >> 8 * i);
}

static int64_t take_number(const uint8_t *bytes, int64_t index)
{
    uint64_t number = 0;
    for (int i = NUMBER - 1; i >= 0; i--)
        number = number << 8 | bytes[index * NUMBER + i];
    return (int64_t)number;
}

size_t csrconv_jit_contents(const struct csrconv_jit_image *image, void *bytes)
{
    uint8_t *to = bytes;
    if (!bytes)
        return (size_t)(HEAD + image->code_bytes);
    for (int i = 0; i < MEMBERS; i++) {
        int64_t number;
        memcpy(&number, (const char *)&image->tiling + members[i].offset, sizeof number);
        put_number(to, i, number);
    }
    put_number(to, IS_FLAT, image->tiling.is_flat);
    put_number(to, TRIMS, image->tiling.trims);
    memcpy(to + HEAD, image->code, (size_t)image->code_bytes);
    return (size_t)(HEAD + image->code_bytes);
}

static csrconv_status take_flag(const uint8_t *bytes, int64_t index, const char *name, bool *flag)
{
    const int64_t number = take_number(bytes, index);
    *flag = number == 1;
    return number == 0 || number == 1
               ? CSRCONV_OK
               : csrconv_fail(CSRCONV_BAD_BLOB, "the blob of cuda_jit has %s = %" PRId64, name,
                              number);
}

static csrconv_status take_members(const uint8_t *bytes, struct csrconv_jit_tiling *tiling)
{
    csrconv_status status;
    for (int i = 0; i < MEMBERS; i++) {
        const int64_t number = take_number(bytes, i);
        if (number < members[i].least || number > members[i].most)
            return csrconv_fail(CSRCONV_BAD_BLOB, "the blob of cuda_jit has %s = %" PRId64,
                                members[i].name, number);
        memcpy((char *)tiling + members[i].offset, &number, sizeof number);
    }
    tiling->us = 0.0;
    status = take_flag(bytes, IS_FLAT, "is_flat", &tiling->is_flat);
    return status ? status : take_flag(bytes, TRIMS, "trims", &tiling->trims);
}

/* Whether panels and stages are as many as the problem has. */
static bool is_cut_right(const struct csrconv_shape *shape, const struct csrconv_jit_tiling *t)
{
    return t->filters <= shape->group_filters && t->stage_channels <= shape->group_channels &&
           t->panels == csrconv_ceil_divide(shape->group_filters, t->filters) &&
           csrconv_jit_panels(shape, t) <= CSRCONV_JIT_MOST_PANELS &&
           t->stages == csrconv_ceil_divide(shape->group_channels, t->stage_channels) &&
           t->ring <= csrconv_ceil_divide(t->stages, t->chunks) && t->chunks <= t->stages;
}

/*
 * Whether the blocks' outputs are all that there are, and a block has a thread for each; trimmed
 * are the first of several images and the last.
 */
static bool is_tiled_right(const struct csrconv_shape *shape, const struct csrconv_jit_tiling *t)
{
    if (t->threads % CSRCONV_LANES || t->span > t->threads)
        return false;
    if (t->is_flat)
        return t->row_tiles == 1 && t->column_tiles == 1 && csrconv_jit_stages_planes(shape, t) &&
               (!t->trims || t->slots > 1);
    return t->rows && t->columns && t->span == t->rows * t->columns && t->slots == 1 && !t->trims &&
           t->row_tiles == csrconv_ceil_divide(shape->out_h, t->rows) &&
           t->column_tiles == csrconv_ceil_divide(shape->out_w, t->columns) &&
           t->stage_rows <= shape->g.height && t->stage_columns <= shape->g.width;
}

/* That members of the tiling agree with the problem and with each other. */
static csrconv_status check_tiling(const struct csrconv_shape *shape,
                                   const struct csrconv_jit_tiling *t)
{
    if (is_cut_right(shape, t) && is_tiled_right(shape, t) &&
        t->blocks == csrconv_jit_blocks(shape, t, shape->g.batch))
        return CSRCONV_OK;
    return csrconv_fail(CSRCONV_BAD_BLOB, "the blob of cuda_jit is cut for another problem");
}

csrconv_status csrconv_jit_contents_tiling(const struct csrconv_problem *problem,
                                           struct csrconv_jit_tiling *tiling)
{
    const struct csrconv_contents *contents = &problem->compiled;
    csrconv_status status = csrconv_jit_check_size(problem);
    if (status)
        return status;
    if (contents->size <= HEAD || contents->size > INT64_MAX)
        return csrconv_fail(CSRCONV_BAD_BLOB, "the blob of cuda_jit has %zu bytes", contents->size);
    status = take_members(contents->bytes, tiling);
    return status ? status : check_tiling(&problem->shape, tiling);
}

csrconv_status csrconv_jit_contents_image(const struct csrconv_problem *problem,
                                          struct csrconv_memory *memory,
                                          struct csrconv_jit_image **image)
{
    const int64_t code_bytes = (int64_t)problem->compiled.size - HEAD;
    struct csrconv_jit_tiling tiling;
    csrconv_status status = csrconv_jit_contents_tiling(problem, &tiling);
    *image = NULL;
    if (status || (status = csrconv_jit_image_make(&tiling, code_bytes, memory, image)))
        return status;
    memcpy((*image)->code, (const char *)problem->compiled.bytes + HEAD, (size_t)code_bytes);
    return CSRCONV_OK;
}
