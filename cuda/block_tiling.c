#include "block_tiling.h"

#include "block_cost.h"
#include "integers.h"
#include "row_streams.h"
#include "status.h"
#include "tile_search.h"

#include <inttypes.h>
#include <string.h>

#define ENTRY(filters, pixels, threads, registers) { filters, pixels, threads, registers },
const struct csrconv_block_kernel csrconv_block_kernels[] = { CSRCONV_EACH_BLOCK_KERNEL(ENTRY) };
#undef ENTRY
_Static_assert(sizeof csrconv_block_kernels ==
                   CSRCONV_BLOCK_KERNELS * sizeof *csrconv_block_kernels,
               "CSRCONV_BLOCK_KERNELS counts the list");

enum { MOST_RING = 4, WARP = 32, WIDEST_COPY = 4, REGISTERS = 65536, MOST_RESIDENT = 2 };

static const int64_t barrier_bytes = 256; /* three for each stage of the ring, and room to align */
static const int64_t reserved_bytes = 1024; /* of each block, by the system */

struct search {
    const struct csrconv_problem *problem;
    const struct csrconv_block_machine *machine;
    struct csrconv_block_work work;
    csrconv_block_tiling_visit visit;
    void *context;
    int64_t found;
};

/* What a block has in shared memory beside the ring: its barriers, and two parts of each stream. */
static int64_t fixed_bytes(const struct csrconv_block_tiling *t)
{
    return barrier_bytes + t->filter_ways * t->pixel_ways * 2 * CSRCONV_STREAM_PART *
                               (int64_t)sizeof(struct csrconv_quad);
}

/*
 * Channels of a stage, such that `ring` stages fit; false if not one channel does, if all
 * channels would fit into fewer stages, or if the one stage held could not be filled ahead.
 */
static bool fill_stages(const struct search *s, int64_t ring, struct csrconv_block_tiling *t)
{
    const int64_t size = (int64_t)sizeof(float), all = s->problem->shape.group_channels;
    const int64_t share = s->machine->processor_shared / t->residents - reserved_bytes;
    const int64_t bytes = csrconv_smaller(share, s->machine->block_shared) - fixed_bytes(t);
    const int64_t words = csrconv_block_words(t);
    const int64_t beyond = 2 * words - t->patch.span + 3;
    const int64_t fit = (bytes / ring / size - beyond) / t->patch.channel;
    if (bytes / ring / size <= beyond || fit < 1)
        return false;
    t->stages = csrconv_ceil_divide(all, csrconv_smaller(fit, all));
    t->stage_channels = csrconv_ceil_divide(all, t->stages);
    t->ring = ring;
    t->stage_floats = (t->stage_channels * t->patch.channel + beyond) / 4 * 4;
    t->zeros = t->stage_floats - words;
    t->shared_bytes = fixed_bytes(t) + ring * t->stage_floats * size;
    return t->stages >= ring && (ring > 1 || t->stages == 1);
}

static void count_blocks(const struct csrconv_shape *shape, struct csrconv_block_tiling *t)
{
    t->filter_tiles = csrconv_ceil_divide(shape->group_filters, csrconv_block_filters(t));
    t->image_tiles = csrconv_image_tiles(shape, &t->patch);
    t->row_tiles = csrconv_row_tiles(shape, &t->patch);
    t->column_tiles = csrconv_column_tiles(shape, &t->patch);
    t->blocks = shape->g.groups * t->filter_tiles * t->image_tiles * t->row_tiles * t->column_tiles;
}

static void consider_tiling(struct search *s, struct csrconv_block_tiling *t)
{
    const struct csrconv_block_kernel *kernel = &csrconv_block_kernels[t->kernel];
    const int64_t threads = WARP * (t->filter_ways * t->pixel_ways + t->producers);
    count_blocks(&s->problem->shape, t);
    for (t->residents = MOST_RESIDENT; t->residents >= 1; t->residents--) {
        if (t->residents > 1 && threads * kernel->registers * t->residents > REGISTERS)
            continue;
        for (int64_t ring = 1; ring <= MOST_RING; ring++) {
            if (!fill_stages(s, ring, t))
                continue;
            t->us = csrconv_block_cost_us(&s->work, s->machine, t);
            s->visit(s->context, t);
            s->found++;
        }
    }
}

/* A search and the tiling whose tile it looks for. */
struct tile_context {
    struct search *search;
    struct csrconv_block_tiling *tiling;
};

static void consider_tile(void *context, const struct csrconv_patch *patch)
{
    const struct tile_context *c = context;
    c->tiling->patch = *patch;
    consider_tiling(c->search, c->tiling);
}

static void consider_tiles(struct search *s, struct csrconv_block_tiling *t, int64_t words)
{
    struct tile_context context = { s, t };
    csrconv_tile_each(&s->problem->shape, words, WIDEST_COPY, consider_tile, &context);
}

/* More warps than there are filters to share would idle. */
static bool is_too_wide(const struct csrconv_shape *shape, const struct csrconv_block_tiling *t)
{
    const int64_t filters = csrconv_block_kernels[t->kernel].filters;
    return (t->filter_ways - 1) * filters >= shape->group_filters ||
           (filters > 1 && filters / 2 >= shape->group_filters);
}

static void consider_kernel(struct search *s, int kernel)
{
    const int64_t most = csrconv_block_kernels[kernel].most_threads / WARP;
    for (int64_t warps = 4; warps <= 16; warps *= 2)
        for (int64_t pixel_ways = 1; pixel_ways <= warps; pixel_ways *= 2) {
            struct csrconv_block_tiling t = { .kernel = kernel,
                                              .filter_ways = warps / pixel_ways,
                                              .pixel_ways = pixel_ways,
                                              .producers = warps / 4 };
            if (warps + t.producers > most || is_too_wide(&s->problem->shape, &t))
                continue;
            consider_tiles(s, &t, csrconv_block_words(&t));
        }
}

/* Where windows are so far apart that 32 of them do not fit: fewer outputs in a tile. */
static void consider_small_tiles(struct search *s)
{
    struct csrconv_block_tiling t = { .filter_ways = 4, .pixel_ways = 1, .producers = 1 };
    for (int64_t outputs = WARP / 2; outputs >= 1 && !s->found; outputs /= 2)
        consider_tiles(s, &t, outputs);
}

int64_t csrconv_block_tiling_each(const struct csrconv_problem *problem,
                                  const struct csrconv_block_machine *machine,
                                  csrconv_block_tiling_visit visit, void *context)
{
    struct search s = {
        .problem = problem, .machine = machine, .visit = visit, .context = context
    };
    csrconv_block_work_init(problem, &s.work);
    for (int kernel = 0; kernel < CSRCONV_BLOCK_KERNELS; kernel++) {
        const struct csrconv_block_kernel *k = &csrconv_block_kernels[kernel];
        if (!problem->without.pixel_tiles || k->filters * k->pixels == 1)
            consider_kernel(&s, kernel);
    }
    if (!s.found)
        consider_small_tiles(&s);
    return s.found;
}

static void keep_best(void *context, const struct csrconv_block_tiling *tiling)
{
    struct csrconv_block_tiling *best = context;
    if (best->us == 0.0 || tiling->us < best->us)
        *best = *tiling;
}

csrconv_status csrconv_block_tiling_choose(const struct csrconv_problem *problem,
                                           const struct csrconv_block_machine *machine,
                                           struct csrconv_block_tiling *tiling)
{
    const csrconv_geometry *g = &problem->shape.g;
    tiling->us = 0.0;
    if (csrconv_block_tiling_each(problem, machine, keep_best, tiling) &&
        tiling->blocks / tiling->image_tiles <= INT32_MAX)
        return CSRCONV_OK;
    return csrconv_fail(CSRCONV_NOT_SUPPORTED,
                        "a window of %" PRId64 " x %" PRId64 " with dilation %" PRId64 " x %" PRId64
                        " does not fit into %" PRId64 " bytes of shared memory",
                        g->kernel_h, g->kernel_w, g->dilation_h, g->dilation_w,
                        machine->block_shared);
}
