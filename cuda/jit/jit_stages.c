/* Where the inputs of a stage lie in shared memory, and what brings them there. */
#include "integers.h"
#include "jit_tiling.h"

static const int64_t word = (int64_t)sizeof(float);
static const int64_t table_entry = 16, parameters = 32;
static const int64_t shifts = 6; /* words: of an image and of a stage, up to 3 each */
static const int64_t ends = 6; /* words: that two neighbouring copies may take beyond their ends */
static const int64_t reserved_bytes = 1024; /* of each block, by the system */

struct csrconv_jit_copies csrconv_jit_copies_of(const struct csrconv_shape *shape,
                                                const struct csrconv_jit_tiling *tiling,
                                                int64_t stage)
{
    const int64_t channels = csrconv_jit_channels_of(shape, tiling, stage);
    if (tiling->trims)
        return (struct csrconv_jit_copies){ 2 * tiling->stage_channels + tiling->slots - 2,
                                            channels * shape->plane };
    if (csrconv_jit_stages_planes(shape, tiling))
        return (struct csrconv_jit_copies){ tiling->slots, channels * shape->plane };
    if (tiling->stage_columns == shape->g.width)
        return (struct csrconv_jit_copies){ channels, tiling->stage_rows * tiling->stage_columns };
    return (struct csrconv_jit_copies){ channels * tiling->stage_rows, tiling->stage_columns };
}

/* The least pitch of so many words that is `distance` modulo 4 words. */
static int64_t pitch_of(int64_t words, int64_t distance)
{
    return words + (distance - words % 4 + 4) % 4;
}

/* The next multiple of 4 words by which lanes of the next image read the banks that are left. */
static int64_t in_step(int64_t words, int64_t lanes)
{
    return words + (lanes - words % CSRCONV_LANES + CSRCONV_LANES) % CSRCONV_LANES / 4 * 4;
}

static void set_pitches(const struct csrconv_shape *shape, struct csrconv_jit_tiling *t)
{
    const int64_t width = shape->g.width;
    const bool is_lines = t->stage_columns == width;
    t->row_pitch = is_lines ? width : pitch_of(t->stage_columns + ends, width % 4);
    t->channel_pitch = csrconv_jit_stages_planes(shape, t)
                           ? shape->plane
                           : pitch_of(t->stage_rows * t->row_pitch + ends, shape->plane % 4);
    t->slot_pitch = csrconv_round_up(t->stage_channels * t->channel_pitch + shifts, 4);
    if (t->is_flat && t->slots > 1 && csrconv_jit_is_in_place(shape))
        t->slot_pitch = in_step(t->slot_pitch, csrconv_jit_image_lanes(shape));
    t->stage_words = csrconv_round_up(t->slots * t->slot_pitch, CSRCONV_LANES);
}

/* Bytes of the sums that the other blocks of a cluster give a block. */
static int64_t given_bytes(const struct csrconv_jit_tiling *t)
{
    return (t->chunks - 1) * csrconv_jit_given(t, csrconv_ceil_divide(t->filters, t->chunks));
}

bool csrconv_jit_fit_stages(const struct csrconv_shape *shape,
                            const struct csrconv_block_machine *machine,
                            struct csrconv_jit_tiling *t)
{
    const int64_t share = machine->processor_shared / t->residents - reserved_bytes;
    const struct csrconv_jit_copies copies = csrconv_jit_copies_of(shape, t, 0);
    const int64_t most = csrconv_ceil_divide(t->stages, t->chunks);
    if (t->ring > most || (t->ring == 1 && most > 1) || copies.count > t->threads)
        return false;
    set_pitches(shape, t);
    t->table_bytes = copies.count * table_entry;
    t->header_bytes = csrconv_round_up(
        t->table_bytes + csrconv_jit_barriers(t) * CSRCONV_JIT_BARRIER_BYTES + parameters,
        CSRCONV_LANES * word);
    t->shared_bytes = t->header_bytes + t->ring * t->stage_words * word + given_bytes(t);
    return t->shared_bytes <= csrconv_smaller(share, machine->block_shared);
}
