#include "split_cost.h"

#include "csr.h"
#include "integers.h"

#include <math.h>

/* Clocks of one multiprocessor; docs/performance-notes-gpu.md has what they are fitted to. */
static const double launch_clocks = 1350;  /* launch, place in the grid, end of the kernel */
static const double copy_clocks = 480;     /* the first list and input are there */
static const double staged_clocks = 4.4;   /* for 32 words of the patch */
static const double list_passes = 0.5;     /* of the load pipe, for a nonzero */
static const double quad_clocks = 25;      /* a warp alone: two nonzeros, loads waited for */
static const double filter_clocks = 290;   /* a filter of a warp begins and ends */
static const double cluster_clocks = 1220; /* sums to the blocks that add them */
static const double chunk_clocks = 64;     /* more for each of those */
static const double pass_clocks = 3200;    /* another kernel */
static const double unit_clocks = 5.6;     /* a quadruple of sums of a warp given away and added */
static const double direct_clocks = 935;
static const double stored_bytes = 6;          /* in a clock, all multiprocessors at it */
static const double l2_bytes_per_clock = 2300; /* all multiprocessors together */

void csrconv_split_work_init(const struct csrconv_problem *problem, struct csrconv_split_work *work)
{
    const struct csrconv_weights *w = problem->weights;
    struct csrconv_slices slices;
    *work = (struct csrconv_split_work){ .shape = &problem->shape,
                                         .nonzeros = (double)csrconv_nonzeros(w) };
    for (int64_t m = 0; m < w->filters; m++)
        work->longest_row = fmax(work->longest_row, (double)(w->indptr[m + 1] - w->indptr[m]));
    csrconv_slices_init(problem, &slices);
    while (work->most_chunks < CSRCONV_MOST_CHUNKS &&
           csrconv_split_cut(&slices, work->most_chunks + 1, &work->cut[work->most_chunks + 1]) &&
           csrconv_split_cut_evenly(&slices, work->most_chunks + 1,
                                    &work->even_cut[work->most_chunks + 1]))
        work->most_chunks++;
}

/* About what the fullest of a hundred has. */
static double fullest(double mean, double longest)
{
    return mean + fmin(longest, 2.0 * sqrt(mean));
}

double csrconv_split_block_nonzeros(const struct csrconv_split_work *work,
                                    const struct csrconv_split_tiling *split)
{
    const struct csrconv_block_tiling *t = &split->block;
    const double lists = (double)(work->shape->g.groups * t->filter_tiles * t->stages);
    const double mean = work->nonzeros / lists * split->heaviest;
    return fullest(mean, work->longest_row);
}

static double staged_words(const struct csrconv_block_tiling *t)
{
    return (double)(t->stage_channels * t->patch.channel);
}

/* Of the warp that has most: what a filter has in a chunk is not shared out. */
static double warp_nonzeros(const struct csrconv_split_work *work,
                            const struct csrconv_split_tiling *split)
{
    const struct csrconv_block_tiling *t = &split->block;
    const double mean = work->longest_row / (double)t->stages;
    return fmax(csrconv_split_block_nonzeros(work, split) / (double)t->filter_ways,
                fullest(mean, work->longest_row - mean));
}

/* The load pipe of the block, and its fullest warp, which waits for every quad. */
static double product_clocks(const struct csrconv_split_work *work,
                             const struct csrconv_split_tiling *split)
{
    const struct csrconv_block_tiling *t = &split->block;
    const double pixels = csrconv_block_kernels[t->kernel].pixels, places = (double)split->places;
    const double pairs = csrconv_split_block_nonzeros(work, split) + 0.5 * places;
    const double pipe = (double)(t->residents * t->pixel_ways) * pairs * (pixels + list_passes);
    const double alone = 0.5 * warp_nonzeros(work, split) * (quad_clocks + 2.0 * pixels) +
                         places / (double)t->filter_ways * filter_clocks;
    return sqrt(pipe * pipe + alone * alone);
}

static double adding_clocks(const struct csrconv_split_tiling *t)
{
    const double units = (double)csrconv_split_units(t) * (double)t->block.residents * unit_clocks;
    if (t->block.stages == 1)
        return direct_clocks + units;
    if (t->adder == CSRCONV_ADD_IN_CLUSTER)
        return cluster_clocks + chunk_clocks * (double)t->block.stages + units;
    return pass_clocks + units;
}

/* Of the outputs of the resident blocks. */
static double storing_clocks(const struct csrconv_shape *shape,
                             const struct csrconv_block_tiling *t)
{
    const double outputs =
        (double)shape->g.batch * (double)shape->g.filters * (double)shape->out_plane;
    return outputs * sizeof(float) / (double)t->blocks * (double)t->residents / stored_bytes;
}

int64_t csrconv_split_slots(const struct csrconv_split_machine *machine,
                            const struct csrconv_split_tiling *tiling)
{
    const int64_t chunks = tiling->block.stages;
    return tiling->adder == CSRCONV_ADD_IN_CLUSTER && chunks > 1
               ? machine->clusters[chunks] * chunks
               : machine->block.processors;
}

/* How many times blocks follow others on a multiprocessor. */
static double waves_of(const struct csrconv_split_machine *machine,
                       const struct csrconv_split_tiling *tiling)
{
    const int64_t slots = csrconv_split_slots(machine, tiling) * tiling->block.residents;
    return ceil((double)tiling->block.blocks / (double)slots);
}

double csrconv_split_cost_us(const struct csrconv_split_work *work,
                             const struct csrconv_split_machine *machine,
                             const struct csrconv_split_tiling *tiling)
{
    const struct csrconv_block_tiling *t = &tiling->block;
    const double residents = (double)t->residents, list = (double)tiling->list_quads;
    const double at_once = fmin((double)t->blocks, (double)machine->block.processors * residents);
    const double bytes = at_once * (4.0 * staged_words(t) + 16.0 * list);
    const double copying = residents * staged_words(t) * staged_clocks / CSRCONV_LANES;
    const double wave = copy_clocks + fmax(copying, bytes / l2_bytes_per_clock) +
                        product_clocks(work, tiling) + adding_clocks(tiling) +
                        storing_clocks(work->shape, t);
    const double clocks = launch_clocks + waves_of(machine, tiling) * wave;
    return clocks / (machine->block.clock_ghz * 1e3);
}
