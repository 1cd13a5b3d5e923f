#include "jit_cost.h"

#include "csr.h"
#include "integers.h"
#include "jit_positions.h"

#include <math.h>

/* Of an H200; docs/performance-notes-gpu.md says how they were found. */
static const double instruction_bytes = 16;
static const double stream_bytes = 2.6;      /* of code, in a clock, by one block alone */
static const double two_stream_bytes = 3.8;  /* by two blocks together */
static const double issue_share = 0.76;      /* of the four schedulers */
static const double stage_instructions = 20; /* waits, and what brings another stage */
static const double stage_clocks = 150;      /* until all warps are in step again */
static const double first_clocks = 1000; /* a block's beginning, until its first copies are there */
static const double group_instructions = 8;  /* predicates of a group of positions */
static const double filter_instructions = 5; /* sums cleared, finished and stored */
static const double block_instructions = 200;
static const double staging_share = 0.2;  /* of the time of copies that nothing hides */
static const double stage_bytes = 21;     /* copied in a clock, when all multiprocessors do */
static const double copy_clocks = 150;    /* of a copy that follows another, beside its bytes */
static const double cluster_clocks = 900; /* sums to the blocks that add them, beside their bytes */
static const double given_bytes = 16;     /* of sums in a clock; not measured yet */
static const double fours_share = 30.0 / 33.0; /* of the multiprocessors, in clusters of four */
static const double launch_us = 2.5;

void csrconv_jit_work_init(const struct csrconv_problem *problem, struct csrconv_jit_work *work)
{
    const struct csrconv_shape *shape = &problem->shape;
    work->shape = shape;
    work->positions = (double)csrconv_jit_positions(shape);
    work->density = (double)csrconv_nonzeros(problem->weights) /
                    ((double)shape->g.filters * (double)shape->columns);
    work->log_sparsity = log1p(-work->density);
}

double csrconv_jit_expected_loads(const struct csrconv_jit_work *work, int64_t filters)
{
    return (double)work->shape->columns * -expm1((double)filters * work->log_sparsity);
}

/* Of a panel's stages and columns, what the longest chunk has. */
static double chunk_share(const struct csrconv_jit_tiling *tiling)
{
    return (double)csrconv_ceil_divide(tiling->stages, tiling->chunks) / (double)tiling->stages;
}

/* Lanes read words a stride apart, and some warps those of two images: how many meet in a bank. */
static double conflicts(const struct csrconv_shape *shape, const struct csrconv_jit_tiling *t)
{
    const int64_t stride = shape->out_w > 1 ? shape->g.stride_w : 1, lowest = stride & -stride;
    const double lanes = CSRCONV_LANES, of_stride = fmin((double)lowest, lanes);
    const bool may_meet = csrconv_jit_images_meet(shape) || shape->out_plane != shape->plane;
    if (t->slots < 2 || !may_meet)
        return of_stride;
    return fmin(of_stride * (1.0 + fmin((lanes - 1.0) / (double)shape->out_plane, 1.0)), lanes);
}

double csrconv_jit_instructions(const struct csrconv_jit_work *work,
                                const struct csrconv_jit_tiling *tiling)
{
    const double filters = (double)tiling->filters, share = chunk_share(tiling);
    const double products = filters * (double)work->shape->columns * work->density;
    return share * (products + csrconv_jit_expected_loads(work, tiling->filters)) +
           share * (double)tiling->stages *
               (stage_instructions + group_instructions * (double)csrconv_jit_groups(work->shape)) +
           filters * filter_instructions + block_instructions;
}

/* Clocks of a multiprocessor for the code of its resident blocks, however it is bound. */
static double code_clocks(const struct csrconv_jit_work *w, const struct csrconv_jit_tiling *t)
{
    const double residents = (double)t->residents, share = chunk_share(t);
    const double warps = (double)(t->threads / CSRCONV_LANES) * residents;
    const double loads = csrconv_jit_expected_loads(w, t->filters) * share;
    const double instructions = csrconv_jit_instructions(w, t);
    const double stream = instructions * instruction_bytes * residents /
                          (residents > 1.0 ? two_stream_bytes : stream_bytes);
    const double issue = instructions * warps / (4.0 * issue_share);
    return fmax(stream, fmax(issue, loads * warps * conflicts(w->shape, t))) +
           share * (double)t->stages * stage_clocks;
}

/* Clocks of a multiprocessor for the copies of one stage of its resident blocks. */
static double stage_copy_clocks(const struct csrconv_jit_tiling *t)
{
    const double bytes = (double)t->slots * (double)t->stage_channels * (double)t->channel_pitch *
                         sizeof(float) * (double)t->residents;
    return bytes / stage_bytes;
}

/* At which stages can follow one another: copies of so many are on their way at once. */
static double stage_interval(const struct csrconv_jit_tiling *t)
{
    const int64_t stages = csrconv_ceil_divide(t->stages, t->chunks);
    const double ahead = (double)csrconv_jit_ahead(t, stages), copy = stage_copy_clocks(t);
    return fmax(copy, (copy_clocks + copy) / ahead);
}

/* Clocks that the blocks of a cluster take to give each other sums. */
static double exchange_clocks(const struct csrconv_jit_tiling *t)
{
    const double others = (double)(t->chunks - 1) / (double)t->chunks;
    const double bytes = (double)csrconv_jit_given(t, t->filters) * (double)t->residents * others;
    return t->chunks > 1 ? cluster_clocks + bytes / given_bytes : 0.0;
}

/* How often all multiprocessors are filled with blocks. */
static double waves_of(const struct csrconv_shape *shape,
                       const struct csrconv_block_machine *machine,
                       const struct csrconv_jit_tiling *t)
{
    const double chunks = (double)t->chunks, share = t->chunks > 2 ? fours_share : 1.0;
    const double clusters =
        floor((double)machine->processors * share * (double)t->residents / chunks);
    return ceil((double)t->blocks * (double)csrconv_jit_panels(shape, t) / fmax(clusters, 1.0));
}

double csrconv_jit_cost_us(const struct csrconv_jit_work *work,
                           const struct csrconv_block_machine *machine,
                           const struct csrconv_jit_tiling *tiling)
{
    const double stages = chunk_share(tiling) * (double)tiling->stages;
    const double copy = stage_copy_clocks(tiling);
    const double work_clocks = code_clocks(work, tiling) + staging_share * copy * stages;
    const double clocks = first_clocks + copy + exchange_clocks(tiling) +
                          fmax(stages * stage_interval(tiling), work_clocks);
    return launch_us + waves_of(work->shape, machine, tiling) * clocks / (machine->clock_ghz * 1e3);
}
