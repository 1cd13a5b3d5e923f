#include "split_cost.h"

#include "csr.h"
#include "integers.h"

#include <math.h>

/* Clocks of one multiprocessor; docs/performance-notes-gpu.md has what they are fitted to. */
static const double launch_clocks = 1700; /* launch, place in the grid, end of the kernel */
static const double copy_clocks = 1200;   /* the first list and input are there */
static const double staged_clocks = 4;    /* for 32 words of the patch */
static const double listed_clocks = 8;    /* for 32 quads of the list */
static const double usable_share = 0.9;   /* of the load pipe */
static const double list_passes = 0.5;    /* of the pipe, for a nonzero */
static const double quad_clocks = 75;     /* a warp alone: two nonzeros, loads waited for */
static const double shorter_share = 0.6;  /* of a mean one: what is dealt with the longest filter */
static const double filter_clocks = 20;   /* a filter of a warp begins and ends */
static const double cluster_clocks = 900; /* sums to the blocks that add them */
static const double pass_clocks = 3200;   /* another kernel */
static const double unit_clocks = 12;     /* a quadruple of sums of a warp given away and added */
static const double direct_clocks = 300;
static const double stored_bytes = 6.5;        /* in a clock, all multiprocessors at it */
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
           csrconv_split_cut(&slices, work->most_chunks + 1, &work->cut[work->most_chunks + 1]))
        work->most_chunks++;
}

/* The mean, and about what the fullest of a hundred has above it. */
static double fullest(double mean, double longest)
{
    return mean + fmin(longest, 2.0 * sqrt(mean));
}

double csrconv_split_block_nonzeros(const struct csrconv_split_work *work,
                                    const struct csrconv_block_tiling *t)
{
    const double lists = (double)(work->shape->g.groups * t->filter_tiles * t->stages);
    const double mean = work->nonzeros / lists * work->cut[t->stages].heaviest;
    return fullest(mean, work->longest_row);
}

static double staged_words(const struct csrconv_block_tiling *t)
{
    return (double)(t->stage_channels * t->patch.channel);
}

/* The load pipe of the block, or its fullest warp, which waits for every quad. */
static double product_clocks(const struct csrconv_split_work *work,
                             const struct csrconv_block_tiling *t)
{
    const struct csrconv_block_kernel *k = &csrconv_block_kernels[t->kernel];
    const double nonzeros = csrconv_split_block_nonzeros(work, t);
    const double ways = (double)t->filter_ways, residents = (double)t->residents;
    const double pairs = nonzeros + 0.5 * (double)k->filters * ways;
    const double pipe = residents * pairs * (double)t->pixel_ways * (k->pixels + list_passes);
    const double segment = nonzeros / (ways * k->filters);
    const double longest = fullest(work->longest_row / (double)t->stages, work->longest_row);
    const double in_warp =
        fmax(k->filters * segment, longest + shorter_share * (k->filters - 1) * segment);
    const double alone =
        0.5 * in_warp * (quad_clocks + 2.0 * k->pixels) + k->filters * filter_clocks;
    return fmax(pipe / usable_share, alone);
}

static double adding_clocks(const struct csrconv_split_tiling *t)
{
    const double units = (double)csrconv_split_units(&t->block) * unit_clocks;
    if (t->block.stages == 1)
        return direct_clocks + units;
    if (t->adder == CSRCONV_ADD_IN_CLUSTER)
        return cluster_clocks + units;
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

/* How many times blocks follow others on a multiprocessor. */
static double waves_of(const struct csrconv_split_machine *machine,
                       const struct csrconv_split_tiling *tiling)
{
    const struct csrconv_block_tiling *t = &tiling->block;
    const bool in_clusters = tiling->adder == CSRCONV_ADD_IN_CLUSTER && t->stages > 1;
    const int64_t slots =
        in_clusters ? machine->clusters[t->stages] * t->stages : machine->block.processors;
    return ceil((double)t->blocks / (double)(slots * t->residents));
}

double csrconv_split_cost_us(const struct csrconv_split_work *work,
                             const struct csrconv_split_machine *machine,
                             const struct csrconv_split_tiling *tiling)
{
    const struct csrconv_block_tiling *t = &tiling->block;
    const double residents = (double)t->residents, list = (double)tiling->list_quads;
    const double at_once = fmin((double)t->blocks, (double)machine->block.processors * residents);
    const double bytes = at_once * (4.0 * staged_words(t) + 16.0 * list);
    const double copying =
        residents * (staged_words(t) * staged_clocks + list * listed_clocks) / CSRCONV_LANES;
    const double wave = copy_clocks + fmax(copying, bytes / l2_bytes_per_clock) +
                        product_clocks(work, t) + adding_clocks(tiling) +
                        storing_clocks(work->shape, t);
    const double clocks = launch_clocks + waves_of(machine, tiling) * wave;
    return clocks / (machine->block.clock_ghz * 1e3);
}
