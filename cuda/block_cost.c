#include "block_cost.h"

#include "csr.h"

#include <math.h>

/*
 * Clocks of one multiprocessor, fitted to 3,300 measured tilings of 11 layers on an H200;
 * docs/performance-notes-gpu.md has the fit. Its limits: the load pipe, a wavefront of 32 words a
 * clock; four schedulers, an instruction a clock each; and what staging gets through.
 */
static const double usable_share = 0.9;     /* of the pipe or the schedulers */
static const double list_passes = 0.65;     /* a quad read by a warp and copied, for a nonzero */
static const double other_instructions = 9; /* of a nonzero, beside its loads and multiply-adds */
static const double segment_clocks = 8;     /* a filter of a warp begins and ends a stage */
static const double staging_clocks = 10;    /* for 32 words, one or two at a time */
static const double staging_clocks_by_4 = 8.7;
static const double block_clocks = 4500; /* first stage's latency, borders, results */
static const double enough_warps = 6;    /* for loads on their way to fill the pipe */
static const double launch_us = 2.5;
static const double l2_bytes_per_us = 4.5e6; /* all multiprocessors together */
static const double dram_bytes_per_us = 4.0e6;

void csrconv_block_work_init(const struct csrconv_problem *problem, struct csrconv_block_work *work)
{
    work->shape = &problem->shape;
    work->nonzeros = (double)csrconv_nonzeros(problem->weights);
}

/* Floats that a block stages in all: the patch without what lies outside the image. */
static double staged_floats(const struct csrconv_shape *shape, const struct csrconv_patch *p)
{
    const int64_t height = p->height < shape->g.height ? p->height : shape->g.height;
    const int64_t width = p->width < shape->g.width ? p->width : shape->g.width;
    const double phases = (double)(p->row_phases * p->column_phases) /
                          (double)(shape->g.stride_h * shape->g.stride_w);
    return (double)p->images * (double)height * (double)width * (double)shape->group_channels *
           phases;
}

/* Of the pipe's or the schedulers' clocks, what the warps that are there can use. */
static double share_of(const struct csrconv_block_tiling *t)
{
    const double warps = (double)(t->residents * t->filter_ways * t->pixel_ways);
    return usable_share * fmin(1.0, warps / enough_warps);
}

/* Clocks of a block's work: its nonzeros, the beginnings and ends of their segments, staging. */
static double block_work(const struct csrconv_block_work *w, const struct csrconv_block_tiling *t,
                         double staged)
{
    const struct csrconv_block_kernel *kernel = &csrconv_block_kernels[t->kernel];
    const double filters = (double)csrconv_block_filters(t), ways = (double)t->pixel_ways;
    const double tiles = (double)(w->shape->g.groups * t->filter_tiles);
    const double segments = filters * (double)t->stages;
    /* Half a nonzero is added to each segment to make pairs. */
    const double nonzeros = (w->nonzeros / tiles + 0.5 * segments) * ways;
    const double wavefronts = nonzeros * (kernel->pixels + list_passes);
    const double instructions = nonzeros * (2.0 * kernel->pixels + other_instructions) / 4.0;
    const double staging = t->patch.vector == 4 ? staging_clocks_by_4 : staging_clocks;
    return fmax(wavefronts, instructions) / share_of(t) + segments * ways * segment_clocks +
           staged / CSRCONV_LANES * staging;
}

double csrconv_block_cost_us(const struct csrconv_block_work *work,
                             const struct csrconv_block_machine *machine,
                             const struct csrconv_block_tiling *tiling)
{
    const struct csrconv_shape *shape = work->shape;
    const double processors = (double)machine->processors, blocks = (double)tiling->blocks;
    const double rounds = ceil(blocks / processors);
    const double waves = ceil(blocks / (processors * (double)tiling->residents));
    const double floats = staged_floats(shape, &tiling->patch);
    const double clocks = rounds * block_work(work, tiling, floats) + waves * block_clocks;
    const double staged = blocks * floats * sizeof(float);
    const double moved =
        (double)shape->g.batch * sizeof(float) * (double)(shape->in_image + shape->out_image);
    const double pipe_us = clocks / (machine->clock_ghz * 1e3);
    return launch_us + fmax(pipe_us, fmax(staged / l2_bytes_per_us, moved / dram_bytes_per_us));
}
