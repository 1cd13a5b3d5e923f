/*
 * How cuda_jit cuts a convolution into blocks of threads: host code, without a call of CUDA's.
 *
 * A thread computes one output of the `filters` filters of a panel, the sums in registers; the code
 * of a panel is made for its weights. A block's outputs are either consecutive ones, through rows
 * and images, or a tile of one image. Channels come in stages, a few at a time, as they lie in the
 * caller's planes: borders are not staged, threads mask them. Under consecutive outputs there is
 * room for whole planes, of which a tiling that trims fills in no more than the block sees.
 *
 * Stages are copied 16 bytes at a time, which needs both addresses at the same place within their
 * 16 bytes. So distances in shared memory are those in the input modulo 4 words, and the address of
 * an image says by how many words, up to 3, all of it is shifted. A copy takes all 16 bytes at its
 * ends. Copies are far enough apart not to meet there, but for those of neighbouring channels that
 * are trimmed: within an image these bring the same floats to the same place.
 *
 * Few outputs and many channels leave most of the registers without sums. Then the blocks of a
 * cluster share a panel's work by channels: each walks a chunk of the stages, and at the end each
 * adds what all of them have for its share of the filters.
 */
#ifndef CSRCONV_JIT_TILING_H
#define CSRCONV_JIT_TILING_H

#include "block_tiling.h"

enum {
    CSRCONV_JIT_MOST_THREADS = 1024,
    CSRCONV_JIT_MOST_PANELS = 65535, /* a grid's second dimension */
    CSRCONV_JIT_MOST_CHUNKS = 4
};

enum { CSRCONV_JIT_BARRIER_BYTES = 8 };

struct csrconv_jit_tiling {
    int64_t threads;   /* of a block: whole warps */
    int64_t residents; /* blocks that a multiprocessor holds at once */
    bool is_flat;      /* consecutive outputs; else a tile of rows x columns */
    bool trims;        /* stages of a block's first and last image only rows that it sees */
    int64_t span;      /* outputs that a block computes, at most one for each thread */
    int64_t rows, columns;
    int64_t row_tiles, column_tiles;              /* of an image; 1 where outputs are consecutive */
    int64_t slots;                                /* images that a block stages */
    int64_t stage_rows, stage_columns;            /* of the input */
    int64_t row_pitch, channel_pitch, slot_pitch; /* words in shared memory from one to the next */
    int64_t stage_channels, stages, ring;         /* channels of a stage, stages, stages held */
    int64_t stage_words;                          /* with what aligns the next */
    int64_t chunks;                               /* of the stages, a block of a cluster each */
    int64_t filters, panels;                      /* of a panel, and panels of a group */
    int64_t unit_parts;                           /* functions that are assembled together */
    int64_t step;   /* instructions between barriers that keep warps in step; 0: those of a stage */
    int64_t blocks; /* of a panel and chunk, for the whole batch */
    /* The header: the table of copies, barriers, the kernel's parameters; stages and sums behind.
     */
    int64_t table_bytes, header_bytes, shared_bytes;
    double us; /* estimated, of the whole batch */
};

/*
 * What a stage is copied by: parts of the input without a gap. Where a tiling trims, these are the
 * channels of the first image, those of the last, and each image between them; how long the first
 * are, a block finds out.
 */
struct csrconv_jit_copies {
    int64_t count;
    int64_t words; /* of a copy; where a tiling trims, of each image between */
};

struct csrconv_jit_copies csrconv_jit_copies_of(const struct csrconv_shape *shape,
                                                const struct csrconv_jit_tiling *tiling,
                                                int64_t stage);

/* Words of the shift by which a stage's inputs stand elsewhere modulo 4 than the first stage's. */
static inline int64_t csrconv_jit_shift(const struct csrconv_shape *shape,
                                        const struct csrconv_jit_tiling *tiling, int64_t stage)
{
    return stage % 4 * (tiling->stage_channels % 4) * (shape->plane % 4) % 4;
}

/* Whether a stage's channels of an image lie one behind the other, as in the input. */
static inline bool csrconv_jit_stages_planes(const struct csrconv_shape *shape,
                                             const struct csrconv_jit_tiling *tiling)
{
    return tiling->stage_rows == shape->g.height && tiling->stage_columns == shape->g.width;
}

/* Channels of that stage: fewer in the last. */
static inline int64_t csrconv_jit_channels_of(const struct csrconv_shape *shape,
                                              const struct csrconv_jit_tiling *tiling,
                                              int64_t stage)
{
    const int64_t left = shape->group_channels - stage * tiling->stage_channels;
    return left < tiling->stage_channels ? left : tiling->stage_channels;
}

/* Whether an output lies where its window's middle does, so that neighbours read neighbours. */
static inline bool csrconv_jit_is_in_place(const struct csrconv_shape *shape)
{
    return shape->out_h == shape->g.height && shape->out_w == shape->g.width &&
           shape->g.stride_h == 1 && shape->g.stride_w == 1;
}

/*
 * Consecutive outputs: threads from an image's first to the next one's. Up to three are idle, where
 * that is a small part: distances of images are whole 16 bytes, and warps that reach into the next
 * image are to read every bank once.
 */
static inline int64_t csrconv_jit_image_lanes(const struct csrconv_shape *shape)
{
    const int64_t plane = shape->out_plane, idle = (4 - plane % 4) % 4;
    return csrconv_jit_is_in_place(shape) && 16 * idle <= plane ? plane + idle : plane;
}

/* Where part `part` of `count` things begins, in parts that differ by one at most. */
static inline int64_t csrconv_jit_share(int64_t count, int64_t parts, int64_t part)
{
    return count * part / parts;
}

/* Of `stages` of a block, those that are on their way before the first is worked on. */
static inline int64_t csrconv_jit_ahead(const struct csrconv_jit_tiling *tiling, int64_t stages)
{
    return stages > tiling->ring ? tiling->ring - 1 : stages;
}

/* Of each stage held, and of the sums that other blocks give. */
static inline int64_t csrconv_jit_barriers(const struct csrconv_jit_tiling *tiling)
{
    return tiling->ring + (tiling->chunks > 1);
}

/* Bytes of sums that another block of the cluster gives a block that adds so many filters. */
static inline int64_t csrconv_jit_given(const struct csrconv_jit_tiling *tiling, int64_t filters)
{
    return filters * tiling->threads * (int64_t)sizeof(float);
}

/* Panels of all groups. */
static inline int64_t csrconv_jit_panels(const struct csrconv_shape *shape,
                                         const struct csrconv_jit_tiling *tiling)
{
    return shape->g.groups * tiling->panels;
}

/* Functions: part panel * chunks + chunk is that chunk of the panel. */
static inline int64_t csrconv_jit_parts(const struct csrconv_shape *shape,
                                        const struct csrconv_jit_tiling *tiling)
{
    return csrconv_jit_panels(shape, tiling) * tiling->chunks;
}

/* Units that they are assembled in. */
static inline int64_t csrconv_jit_units(const struct csrconv_shape *shape,
                                        const struct csrconv_jit_tiling *tiling)
{
    return (csrconv_jit_parts(shape, tiling) - 1) / tiling->unit_parts + 1;
}

/* Where a unit's parts end: fewer in the last. */
static inline int64_t csrconv_jit_unit_end(const struct csrconv_shape *shape,
                                           const struct csrconv_jit_tiling *tiling, int64_t unit)
{
    const int64_t parts = csrconv_jit_parts(shape, tiling);
    const int64_t end = (unit + 1) * tiling->unit_parts;
    return end < parts ? end : parts;
}

/*
 * Sets row_pitch, channel_pitch, slot_pitch, stage_words and the bytes, from the members that say
 * what a block computes and stages (not from unit_parts, step, blocks and us). Whether the bytes
 * fit: into what a block can have, and `residents` times, with what the system reserves, into a
 * multiprocessor. False, with nothing set, where the ring holds more stages than the longest chunk
 * has, or one of several, and where a stage has more copies than the block has threads.
 */
bool csrconv_jit_fit_stages(const struct csrconv_shape *shape,
                            const struct csrconv_block_machine *machine,
                            struct csrconv_jit_tiling *tiling);

/* Registers that each of so many warps of a multiprocessor can have. */
int64_t csrconv_jit_registers(int64_t warps);

/* Images that one launch can take. */
int64_t csrconv_jit_launch_images(const struct csrconv_shape *shape,
                                  const struct csrconv_jit_tiling *tiling);

/* Blocks of a panel for n images. */
int64_t csrconv_jit_blocks(const struct csrconv_shape *shape,
                           const struct csrconv_jit_tiling *tiling, int64_t n);

/* CSRCONV_NOT_SUPPORTED if 32-bit offsets, or an assembler's time, do not allow the problem. */
csrconv_status csrconv_jit_check_size(const struct csrconv_problem *problem);

/* Told each tiling that fits, in no order. */
typedef void (*csrconv_jit_visit)(void *context, const struct csrconv_jit_tiling *tiling);

/* Visits every tiling that is considered; returns how many. */
int64_t csrconv_jit_tiling_each(const struct csrconv_problem *problem,
                                const struct csrconv_block_machine *machine,
                                csrconv_jit_visit visit, void *context);

/* The tiling with the least estimated time. CSRCONV_NOT_SUPPORTED says what does not fit. */
csrconv_status csrconv_jit_tiling_choose(const struct csrconv_problem *problem,
                                         const struct csrconv_block_machine *machine,
                                         struct csrconv_jit_tiling *tiling);

#endif
