#include "split_tiling.h"

#include "chunk_lists.h"
#include "integers.h"
#include "split_cost.h"
#include "status.h"
#include "tile_search.h"
#include "tile_tables.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { WARP = CSRCONV_LANES, MOST_RESIDENT = 2, REGISTERS = 65536 };

static const int64_t barrier_bytes = 16;
static const int64_t quad_bytes = (int64_t)sizeof(struct csrconv_quad);
static const int64_t unit_bytes = (int64_t)WARP * CSRCONV_UNIT_PIXELS * (int64_t)sizeof(float);
static const double most_blocks = 1e12;     /* so that the bytes of all their sums can be counted */
static const int64_t reserved_bytes = 1024; /* of each block, by the system */

#define ENTRY(pixels) pixels,
static const int lane_pixels[] = { CSRCONV_EACH_SPLIT_KERNEL(ENTRY) };
#undef ENTRY
static const int64_t warp_filters[] = { 1, 2, 4, 8 };

enum { WARP_FILTERS = sizeof warp_filters / sizeof *warp_filters };

struct search {
    const struct csrconv_problem *problem;
    const struct csrconv_split_machine *machine;
    struct csrconv_split_work work;
    double spare;
    csrconv_split_tiling_visit visit;
    void *context;
    struct csrconv_split_tiling tiling; /* the one that is considered */
    int64_t found;
};

/* One of the kernels in the list of all that have so many outputs in a lane. */
static int block_kernel(int pixels)
{
    int i = 0;
    while (csrconv_block_kernels[i].pixels != pixels)
        i++;
    return i;
}

/* Half a quad for each nonzero, one more for each filter, and each warp's last. */
static int64_t expected_quads(const struct search *s)
{
    const struct csrconv_split_tiling *split = &s->tiling;
    const double nonzeros = csrconv_split_block_nonzeros(&s->work, split);
    const double quads = 0.5 * nonzeros + (double)(split->places + split->block.filter_ways);
    return csrconv_chunk_list_head(split) + (int64_t)ceil(quads * s->spare);
}

/* A barrier, the list, the sums that other blocks give, where outputs go, the patch and zeros
 * behind it. */
static int64_t needed_bytes(const struct csrconv_split_tiling *split)
{
    const struct csrconv_block_tiling *t = &split->block;
    const bool is_given = split->adder == CSRCONV_ADD_IN_CLUSTER || t->stages == 1;
    return barrier_bytes + split->list_quads * quad_bytes +
           (is_given ? csrconv_split_share(split) * t->stages * unit_bytes : 0) +
           csrconv_block_words(t) * (int64_t)sizeof(int32_t) +
           t->stage_floats * (int64_t)sizeof(float);
}

/* Returns the bytes of shared memory that a block needs. */
static int64_t lay_out(struct search *s)
{
    struct csrconv_split_tiling *split = &s->tiling;
    struct csrconv_block_tiling *t = &split->block;
    const int64_t words = csrconv_block_words(t);
    const int64_t beyond = 2 * words - t->patch.span + 3;
    t->stage_floats = (t->stage_channels * t->patch.channel + beyond) / 4 * 4;
    t->zeros = t->stage_floats - words;
    split->list_quads = expected_quads(s);
    return needed_bytes(split);
}

/*
 * Whether as many blocks fit as planned, and no more find room on a multiprocessor: those of the
 * next kernel, which begins early, would crowd where a block has ended first, and slow one another
 * down.
 */
static bool fit_residents(struct search *s, int64_t needed)
{
    struct csrconv_block_tiling *t = &s->tiling.block;
    const int64_t all = s->machine->block.processor_shared;
    t->shared_bytes = csrconv_larger(needed, all / (t->residents + 1));
    return t->shared_bytes <=
           csrconv_smaller(all / t->residents - reserved_bytes, s->machine->block.block_shared);
}

/* As many blocks on a multiprocessor as fit. */
static void consider_residents(struct search *s)
{
    struct csrconv_block_tiling *t = &s->tiling.block;
    const int64_t threads = WARP * t->filter_ways * t->pixel_ways, needed = lay_out(s);
    for (t->residents = MOST_RESIDENT; t->residents >= 1; t->residents--) {
        if (threads * CSRCONV_SPLIT_REGISTERS * t->residents > REGISTERS ||
            !fit_residents(s, needed))
            continue;
        t->us = csrconv_split_cost_us(&s->work, s->machine, &s->tiling);
        s->visit(s->context, &s->tiling);
        s->found++;
        return;
    }
}

/* So many tiles of filters, with as few places as they need. */
static void consider_filter_tiles(struct search *s, int64_t filter_tiles)
{
    struct csrconv_split_tiling *split = &s->tiling;
    struct csrconv_block_tiling *t = &split->block;
    const int64_t groups = s->problem->shape.g.groups;
    const int64_t tiles = t->row_tiles * t->column_tiles; /* checked by csrconv_tile_sources */
    t->filter_tiles = filter_tiles;
    split->places = csrconv_ceil_divide(s->problem->shape.group_filters, filter_tiles);
    if (split->places > CSRCONV_MOST_PLACES || t->filter_ways > split->places ||
        (double)(groups * t->filter_tiles) * (double)t->image_tiles * (double)tiles *
                (double)t->stages >
            most_blocks)
        return;
    t->blocks = groups * t->filter_tiles * t->image_tiles * tiles * t->stages;
    consider_residents(s);
}

/* Such that as many blocks as run at once have something to do; 0: there are more anyway. */
static int64_t filling_tiles(const struct search *s)
{
    const struct csrconv_block_tiling *t = &s->tiling.block;
    const double slots = (double)csrconv_split_slots(s->machine, &s->tiling);
    const double tiles = (double)s->problem->shape.g.groups * (double)t->image_tiles *
                         (double)t->row_tiles * (double)t->column_tiles * (double)t->stages;
    return csrconv_smaller(s->problem->shape.group_filters, (int64_t)(slots / tiles));
}

/* Each number of filters of a warp, and the number of tiles that fills the GPU. */
static void consider_cut(struct search *s, const struct csrconv_split_cut *cut)
{
    struct csrconv_block_tiling *t = &s->tiling.block;
    const int64_t filters = s->problem->shape.group_filters, filling = filling_tiles(s);
    int64_t last = 0;
    bool is_tried = filling < 1;
    t->stage_channels = cut->most_channels;
    memcpy(s->tiling.first_channel, cut->first, sizeof cut->first);
    s->tiling.heaviest = cut->heaviest;
    for (int i = 0; i < WARP_FILTERS && last != 1; i++) {
        last = csrconv_ceil_divide(filters, warp_filters[i] * t->filter_ways);
        is_tried = is_tried || last == filling;
        consider_filter_tiles(s, last);
    }
    if (!is_tried)
        consider_filter_tiles(s, filling);
}

/* Chunks of equal work, or of equal width, if only so wide ones fit into shared memory. */
static void consider_chunks(struct search *s, int64_t chunks)
{
    const int64_t found = s->found;
    s->tiling.block.stages = chunks;
    if (csrconv_split_slots(s->machine, &s->tiling) < 1)
        return; /* no such cluster runs */
    consider_cut(s, &s->work.cut[chunks]);
    if (s->found == found)
        consider_cut(s, &s->work.even_cut[chunks]);
}

static void consider_tile(void *context, const struct csrconv_patch *patch)
{
    struct search *s = context;
    const struct csrconv_shape *shape = &s->problem->shape;
    struct csrconv_block_tiling *t = &s->tiling.block;
    t->patch = *patch;
    t->image_tiles = csrconv_image_tiles(shape, patch);
    t->row_tiles = csrconv_row_tiles(shape, patch);
    t->column_tiles = csrconv_column_tiles(shape, patch);
    if (csrconv_tile_sources(shape, patch) < 0 || shape->g.filters > INT32_MAX)
        return; /* beyond what tables and lists count to */
    for (int64_t chunks = 1; chunks <= s->work.most_chunks; chunks++)
        consider_chunks(s, chunks);
}

static void consider_kernel(struct search *s, int pixels)
{
    struct csrconv_block_tiling *t = &s->tiling.block;
    for (int64_t warps = 2; warps <= CSRCONV_SPLIT_THREADS / WARP; warps *= 2)
        for (int64_t pixel_ways = 1; pixel_ways <= warps; pixel_ways *= 2) {
            *t = (struct csrconv_block_tiling){ .kernel = block_kernel(pixels),
                                                .filter_ways = warps / pixel_ways,
                                                .pixel_ways = pixel_ways,
                                                .ring = 1 };
            csrconv_tile_each(&s->problem->shape, csrconv_block_words(t), 1, consider_tile, s);
        }
}

/* Where windows are so far apart that 32 of them do not fit: fewer outputs in a tile. */
static void consider_small_tiles(struct search *s)
{
    for (int64_t outputs = WARP / 2; outputs >= 1 && !s->found; outputs /= 2)
        for (int64_t ways = 1; ways <= 4; ways *= 2) {
            s->tiling.block = (struct csrconv_block_tiling){
                .kernel = block_kernel(1), .filter_ways = ways, .pixel_ways = 1, .ring = 1
            };
            csrconv_tile_each(&s->problem->shape, outputs, 1, consider_tile, s);
        }
}

int64_t csrconv_split_tiling_each(const struct csrconv_problem *problem,
                                  const struct csrconv_split_machine *machine, double spare,
                                  csrconv_split_tiling_visit visit, void *context)
{
    struct search s = { .problem = problem,
                        .machine = machine,
                        .spare = spare,
                        .visit = visit,
                        .context = context,
                        .tiling.adder = machine->adder };
    csrconv_split_work_init(problem, &s.work);
    for (size_t i = 0; i < sizeof lane_pixels / sizeof *lane_pixels; i++)
        consider_kernel(&s, lane_pixels[i]);
    if (!s.found)
        consider_small_tiles(&s);
    return s.found;
}

static void keep_best(void *context, const struct csrconv_split_tiling *tiling)
{
    struct csrconv_split_tiling *best = context;
    if (best->block.us == 0.0 || tiling->block.us < best->block.us)
        *best = *tiling;
}

csrconv_status csrconv_split_tiling_choose(const struct csrconv_problem *problem,
                                           const struct csrconv_split_machine *machine,
                                           double spare, struct csrconv_split_tiling *tiling)
{
    const csrconv_geometry *g = &problem->shape.g;
    tiling->block.us = 0.0;
    if (csrconv_split_tiling_each(problem, machine, spare, keep_best, tiling))
        return CSRCONV_OK;
    return csrconv_fail(CSRCONV_NOT_SUPPORTED,
                        "an eighth of %" PRId64 " channels, in windows of %" PRId64 " x %" PRId64
                        " with dilation %" PRId64 " x %" PRId64 ", and their weights do not fit "
                        "into %" PRId64 " bytes of shared memory",
                        problem->shape.group_channels, g->kernel_h, g->kernel_w, g->dilation_h,
                        g->dilation_w, machine->block.block_shared);
}
