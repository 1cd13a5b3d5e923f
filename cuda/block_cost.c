#include "block_cost.h"

#include "csr.h"

#include <math.h>

/*
 * Clocks of one multiprocessor. The load pipe is what limits: a wavefront a clock, 32 words each.
 * Constants measured on an H200; docs/performance-notes.md says how.
 */
static const double pipe_share = 0.88;     /* of its clocks that many warps can use */
static const double list_passes = 0.6;     /* the load of a pair, shared by two nonzeros */
static const double segment_clocks = 20.0; /* a filter of a warp begins and ends a stage */
static const double copy_wavefronts = 2.0; /* for each 32 words staged, one float at a time */
static const double block_clocks = 2500.0; /* first stage's latency, borders, slots, results */
static const double launch_us = 2.0;
static const double l2_bytes_per_us = 4.5e6; /* all multiprocessors together */
static const double dram_bytes_per_us = 4.0e6;
static const double load_latency = 33.0; /* clocks from a load of shared memory to its use */

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

/* Wavefronts of the load pipe that a block needs, and the clocks that begin and end its segments.
 */
static double block_work(const struct csrconv_block_work *w, const struct csrconv_block_tiling *t)
{
    const struct csrconv_block_kernel *kernel = &csrconv_block_kernels[t->kernel];
    const double filters = (double)csrconv_block_filters(t), ways = (double)t->pixel_ways;
    const double tiles = (double)(w->shape->g.groups * t->filter_tiles);
    const double segments = filters * (double)t->stages;
    /* Half a nonzero is added to each segment to make pairs. */
    const double nonzeros = w->nonzeros / tiles + 0.5 * segments;
    const double products = nonzeros * ways * (kernel->pixels + list_passes);
    const double copies = copy_wavefronts / (t->patch.vector == 4 ? 1.3 : 1.1);
    const double staging = staged_floats(w->shape, &t->patch) / CSRCONV_LANES * copies;
    return products + staging + segments * ways * segment_clocks;
}

/* Of the pipe's clocks, what the warps that are there can use while loads are on their way. */
static double usable_share(const struct csrconv_block_tiling *t)
{
    const double loads = 2.0 * csrconv_block_kernels[t->kernel].pixels;
    const double warps = (double)(t->residents * t->filter_ways * t->pixel_ways);
    const double share = warps * loads / (loads + load_latency + 3.0 * loads);
    return share < 1.0 ? pipe_share * share : pipe_share;
}

double csrconv_block_cost_us(const struct csrconv_block_work *work,
                             const struct csrconv_block_machine *machine,
                             const struct csrconv_block_tiling *tiling)
{
    const struct csrconv_shape *shape = work->shape;
    const double processors = (double)machine->processors, blocks = (double)tiling->blocks;
    const double rounds = ceil(blocks / processors);
    const double waves = ceil(blocks / (processors * (double)tiling->residents));
    const double clocks =
        rounds * block_work(work, tiling) / usable_share(tiling) + waves * block_clocks;
    const double staged = blocks * staged_floats(shape, &tiling->patch) * sizeof(float);
    const double moved =
        (double)shape->g.batch * sizeof(float) * (double)(shape->in_image + shape->out_image);
    const double pipe_us = clocks / (machine->clock_ghz * 1e3);
    return launch_us + fmax(pipe_us, fmax(staged / l2_bytes_per_us, moved / dram_bytes_per_us));
}
