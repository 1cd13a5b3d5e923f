#include "jit_tiling.h"

#include "integers.h"
#include "jit_cost.h"
#include "jit_positions.h"
#include "status.h"

#include <inttypes.h>

enum {
    WARP = CSRCONV_LANES,
    MOST_WARPS = CSRCONV_JIT_MOST_THREADS / WARP,
    MOST_RING = 2,
    MOST_RESIDENT = 2
};
enum { LEAST_WARPS = 4, MOST_REGISTERS = 255 };

static const int64_t most_products = 1 << 20;
static const int64_t most_words = 1 << 28; /* that an offset in a stage or in a plane may come to */

struct search {
    const struct csrconv_problem *problem;
    const struct csrconv_block_machine *machine;
    struct csrconv_jit_work work;
    int64_t other_registers;
    csrconv_jit_visit visit;
    void *context;
    int64_t found;
};

int64_t csrconv_jit_registers(int64_t warps)
{
    const int64_t partition = 16384, partitions = 4, step = 8;
    const int64_t most = partition / (csrconv_ceil_divide(warps, partitions) * WARP) / step * step;
    return csrconv_smaller(most, MOST_REGISTERS);
}

int64_t csrconv_jit_blocks(const struct csrconv_shape *shape,
                           const struct csrconv_jit_tiling *tiling, int64_t n)
{
    return tiling->is_flat ? csrconv_ceil_divide(n * csrconv_jit_image_lanes(shape), tiling->span)
                           : n * tiling->row_tiles * tiling->column_tiles;
}

/* So that outputs and blocks are counted in 31 bits. */
int64_t csrconv_jit_launch_images(const struct csrconv_shape *shape,
                                  const struct csrconv_jit_tiling *tiling)
{
    const int64_t of_an_image =
        tiling->is_flat ? csrconv_jit_image_lanes(shape) : tiling->row_tiles * tiling->column_tiles;
    return (INT32_MAX - CSRCONV_JIT_MOST_THREADS) / of_an_image;
}

/* Few, so that many cores have work; not so few that the assembler's start counts. */
static int64_t unit_parts(const struct search *s, const struct csrconv_jit_tiling *t)
{
    const double most_instructions = 4000;
    const int64_t parts = csrconv_jit_parts(&s->problem->shape, t);
    const double fit = most_instructions / csrconv_jit_instructions(&s->work, t);
    return fit < 1.0 ? 1 : fit < (double)parts ? (int64_t)fit : parts;
}

/* How many stages a block holds at once. */
static void consider_rings(struct search *s, struct csrconv_jit_tiling *t)
{
    for (t->ring = 1; t->ring <= MOST_RING; t->ring++) { /* rather few, if it is the same */
        if (!csrconv_jit_fit_stages(&s->problem->shape, s->machine, t))
            continue;
        t->unit_parts = unit_parts(s, t);
        t->us = csrconv_jit_cost_us(&s->work, s->machine, t);
        s->visit(s->context, t);
        s->found++;
    }
}

/* Chunks only help where there are few blocks for the multiprocessors. */
static bool may_cut(const struct search *s, const struct csrconv_jit_tiling *t)
{
    const double few = 2.0; /* rounds of blocks */
    const double slots = (double)(s->machine->processors * t->residents);
    return (double)t->blocks * (double)csrconv_jit_panels(&s->problem->shape, t) < few * slots &&
           t->chunks <= t->stages && t->chunks <= s->machine->processors;
}

static void consider_stages(struct search *s, struct csrconv_jit_tiling *t)
{
    const struct csrconv_shape *shape = &s->problem->shape;
    for (int64_t channels = 1; channels < 2 * shape->group_channels; channels *= 2) {
        t->stage_channels = csrconv_smaller(channels, shape->group_channels);
        t->stages = csrconv_ceil_divide(shape->group_channels, t->stage_channels);
        t->chunks = 1;
        do {
            consider_rings(s, t);
            t->chunks *= 2;
        } while (t->chunks <= CSRCONV_JIT_MOST_CHUNKS && may_cut(s, t));
    }
}

/*
 * Four times as many as registers want, and where outputs are few, one for each multiprocessor; no
 * more than a grid holds.
 */
static int64_t most_panels(const struct search *s, const struct csrconv_jit_tiling *t,
                           int64_t fewest)
{
    const int64_t tiles = t->blocks * s->problem->shape.g.groups;
    const int64_t most =
        csrconv_larger(4 * fewest, csrconv_ceil_divide(s->machine->processors, tiles));
    const int64_t fit = CSRCONV_JIT_MOST_PANELS / s->problem->shape.g.groups;
    return csrconv_smaller(s->problem->shape.group_filters, csrconv_smaller(most, fit));
}

/* Panels of equal size, from the fewest that registers allow. */
static void consider_panels(struct search *s, struct csrconv_jit_tiling *t)
{
    const int64_t filters = s->problem->shape.group_filters;
    const int64_t registers = csrconv_jit_registers(t->threads / WARP * t->residents);
    const int64_t most = registers - s->other_registers;
    int64_t fewest, last = 0, end;
    if (most < 1)
        return;
    fewest = csrconv_ceil_divide(filters, most);
    end = most_panels(s, t, fewest);
    for (int64_t panels = fewest; panels <= end; panels++) {
        t->filters = csrconv_ceil_divide(filters, panels);
        if (t->filters == last)
            continue;
        last = t->filters;
        t->panels = csrconv_ceil_divide(filters, t->filters);
        consider_stages(s, t);
    }
}

static void consider_residents(struct search *s, struct csrconv_jit_tiling *t)
{
    t->blocks = csrconv_jit_blocks(&s->problem->shape, t, s->problem->shape.g.batch);
    for (t->residents = 1; t->residents <= MOST_RESIDENT; t->residents++)
        if (t->threads * t->residents <= 2 * CSRCONV_JIT_MOST_THREADS)
            consider_panels(s, t);
}

/* Consecutive outputs: as many as there are threads, or those of whole images. */
static void consider_flat(struct search *s, int64_t threads)
{
    const struct csrconv_shape *shape = &s->problem->shape;
    const int64_t lanes = csrconv_jit_image_lanes(shape), whole = threads / lanes * lanes;
    struct csrconv_jit_tiling t = { .threads = threads,
                                    .is_flat = true,
                                    .row_tiles = 1,
                                    .column_tiles = 1,
                                    .stage_rows = shape->g.height,
                                    .stage_columns = shape->g.width };
    if (shape->plane * (int64_t)sizeof(float) > s->machine->block_shared)
        return;
    if (whole > threads - WARP) {
        t.span = whole;
        t.slots = csrconv_smaller(whole / lanes, shape->g.batch);
        consider_residents(s, &t);
    }
    if (whole != threads) {
        t.span = threads;
        t.slots = csrconv_smaller((threads + lanes - 2) / lanes + 1, shape->g.batch);
        consider_residents(s, &t);
        t.trims = t.slots > 1;
        if (t.trims)
            consider_residents(s, &t);
    }
}

/* Inputs along an axis that so many outputs see. */
static int64_t seen(int64_t outputs, int64_t stride, int64_t kernel, int64_t dilation, int64_t size)
{
    return csrconv_smaller((outputs - 1) * stride + (kernel - 1) * dilation + 1, size);
}

static void consider_tile(struct search *s, int64_t rows, int64_t columns)
{
    const struct csrconv_shape *shape = &s->problem->shape;
    const csrconv_geometry *g = &shape->g;
    struct csrconv_jit_tiling t = {
        .span = rows * columns, .rows = rows, .columns = columns, .slots = 1
    };
    t.threads = csrconv_round_up(t.span, WARP);
    t.row_tiles = csrconv_ceil_divide(shape->out_h, rows);
    t.column_tiles = csrconv_ceil_divide(shape->out_w, columns);
    t.stage_rows = seen(rows, g->stride_h, g->kernel_h, g->dilation_h, g->height);
    t.stage_columns = seen(columns, g->stride_w, g->kernel_w, g->dilation_w, g->width);
    if (t.stage_rows <= most_words / t.stage_columns)
        consider_residents(s, &t);
}

/* Whole lines where the threads hold them; lines cut evenly. */
static void consider_tiles(struct search *s, int64_t threads)
{
    const struct csrconv_shape *shape = &s->problem->shape;
    const int64_t pieces = csrconv_ceil_divide(shape->out_w, threads);
    const int64_t columns = csrconv_ceil_divide(shape->out_w, pieces);
    const int64_t tallest = csrconv_smaller(threads / columns, shape->out_h);
    const int64_t rows =
        csrconv_ceil_divide(shape->out_h, csrconv_ceil_divide(shape->out_h, tallest));
    consider_tile(s, rows, columns);
    if (rows != tallest)
        consider_tile(s, tallest, columns);
}

int64_t csrconv_jit_tiling_each(const struct csrconv_problem *problem,
                                const struct csrconv_block_machine *machine,
                                csrconv_jit_visit visit, void *context)
{
    struct search s = { .problem = problem,
                        .machine = machine,
                        .visit = visit,
                        .context = context,
                        .other_registers = csrconv_jit_other_registers(&problem->shape) };
    csrconv_jit_work_init(problem, &s.work);
    for (int64_t warps = LEAST_WARPS; warps <= MOST_WARPS; warps++) {
        consider_flat(&s, warps * WARP);
        consider_tiles(&s, warps * WARP);
    }
    /* Where less fits: tiles of fewer outputs than there are threads in the least of blocks. */
    for (int64_t threads = LEAST_WARPS * WARP / 2; threads >= 1 && !s.found; threads /= 2)
        consider_tiles(&s, threads);
    return s.found;
}

static void keep_best(void *context, const struct csrconv_jit_tiling *tiling)
{
    struct csrconv_jit_tiling *best = context;
    if (best->us == 0.0 || tiling->us < best->us)
        *best = *tiling;
}

csrconv_status csrconv_jit_check_size(const struct csrconv_problem *problem)
{
    const struct csrconv_shape *shape = &problem->shape;
    const int64_t nonzeros = csrconv_nonzeros(problem->weights);
    if (nonzeros > most_products)
        return csrconv_fail(CSRCONV_NOT_SUPPORTED,
                            "cuda_jit makes code of at most %" PRId64
                            " products, the weights have %" PRId64 " nonzeros",
                            most_products, nonzeros);
    if (shape->g.groups >
        CSRCONV_JIT_MOST_PANELS / csrconv_ceil_divide(shape->group_filters, MOST_REGISTERS))
        return csrconv_fail(CSRCONV_NOT_SUPPORTED,
                            "cuda_jit counts panels in a grid of at most %d, which %" PRId64
                            " groups of %" PRId64 " filters do not fit into",
                            CSRCONV_JIT_MOST_PANELS, shape->g.groups, shape->group_filters);
    if (shape->padded_h > most_words / shape->padded_w || shape->out_plane > most_words)
        return csrconv_fail(CSRCONV_NOT_SUPPORTED,
                            "cuda_jit counts in padded planes of at most %" PRId64
                            " floats, not %" PRId64 " x %" PRId64,
                            most_words, shape->padded_h, shape->padded_w);
    return CSRCONV_OK;
}

csrconv_status csrconv_jit_tiling_choose(const struct csrconv_problem *problem,
                                         const struct csrconv_block_machine *machine,
                                         struct csrconv_jit_tiling *tiling)
{
    const csrconv_geometry *g = &problem->shape.g;
    const csrconv_status status = csrconv_jit_check_size(problem);
    if (status)
        return status;
    tiling->us = 0.0;
    if (csrconv_jit_tiling_each(problem, machine, keep_best, tiling))
        return CSRCONV_OK;
    return csrconv_fail(
        CSRCONV_NOT_SUPPORTED,
        "cuda_jit: a window of %" PRId64 " x %" PRId64 " with dilation %" PRId64 " x %" PRId64
        " does not fit into %" PRId64 " bytes of shared memory or the registers of a thread",
        g->kernel_h, g->kernel_w, g->dilation_h, g->dilation_w, machine->block_shared);
}
