#include "jit_cost.h"

#include "csr.h"
#include "integers.h"
#include "jit_positions.h"

#include <math.h>

/* Of an H200, fitted to the published layers; docs/performance-notes-jit.md says how well. */
static const double instruction_bytes = 16;
static const double stream_bytes = 2.23;     /* of code, in a clock, by one block alone */
static const double two_stream_bytes = 3.65; /* by two blocks together */
static const double same_stream_bytes = 4.6; /* by two that run the same */
static const double neighbour_stream_bytes =
    24.4;                               /* by all neighbours, which share a way to the code */
static const double neighbours = 16.5;  /* multiprocessors */
static const double issue_share = 0.83; /* of the four schedulers */
static const double schedulers = 4;
static const double stage_clocks = 194;      /* until all warps are in step and under way again */
static const double filter_instructions = 5; /* sums cleared, finished and stored */
static const double block_instructions = 200;
static const double staged_bytes = 53;       /* copied in a clock, at most */
static const double shared_out_bytes = 20.6; /* when all multiprocessors copy */
static const double stored_bytes = 40;       /* in a clock */
static const double exchange_clocks = 425;   /* until blocks of a cluster have each other's sums */
static const double exchanged_bytes = 14.4;  /* in a clock */
static const double room_of_four = 0.92;     /* of the multiprocessors: where clusters of 4 fit */
static const double launch_us = 0.25;        /* of a kernel that begins before the last has ended */

/* Of a stage: predicates of masked positions, and registers cleared where none is kept for each. */
static double mask_instructions(const struct csrconv_shape *shape)
{
    const double of_position = csrconv_jit_keeps_registers(shape) ? 2.0 : 3.0;
    return of_position * (double)csrconv_jit_count_masked(shape);
}

static double loads_of(const struct csrconv_jit_work *work, int64_t filters)
{
    return (double)work->shape->columns * -expm1((double)filters * work->log_sparsity);
}

void csrconv_jit_work_init(const struct csrconv_problem *problem, struct csrconv_jit_work *work)
{
    const struct csrconv_shape *shape = &problem->shape;
    work->shape = shape;
    work->density = (double)csrconv_nonzeros(problem->weights) /
                    ((double)shape->g.filters * (double)shape->columns);
    work->log_sparsity = log1p(-work->density);
    work->stage_instructions = mask_instructions(shape);
    work->loads[0] = 0.0;
    for (int64_t filters = 1; filters <= CSRCONV_JIT_TABLED_FILTERS; filters++)
        work->loads[filters] = loads_of(work, filters);
}

double csrconv_jit_expected_loads(const struct csrconv_jit_work *work, int64_t filters)
{
    return filters <= CSRCONV_JIT_TABLED_FILTERS ? work->loads[filters] : loads_of(work, filters);
}

/* Lanes read words a stride apart: how many of them meet in a bank. */
static double conflicts(const struct csrconv_shape *shape)
{
    const int64_t stride = shape->out_w > 1 ? shape->g.stride_w : 1, lowest = stride & -stride;
    return (double)(lowest < CSRCONV_LANES ? lowest : CSRCONV_LANES);
}

/* Stages of a chunk. */
static double chunk_stages(const struct csrconv_jit_tiling *t)
{
    return (double)csrconv_ceil_divide(t->stages, t->chunks);
}

static double chunk_loads(const struct csrconv_jit_work *w, const struct csrconv_jit_tiling *t)
{
    return csrconv_jit_expected_loads(w, t->filters) * chunk_stages(t) / (double)t->stages;
}

double csrconv_jit_instructions(const struct csrconv_jit_work *work,
                                const struct csrconv_jit_tiling *tiling)
{
    const double filters = (double)tiling->filters, stages = chunk_stages(tiling);
    const double products =
        filters * (double)work->shape->columns * work->density * stages / (double)tiling->stages;
    return products + chunk_loads(work, tiling) + stages * work->stage_instructions +
           filters * filter_instructions + block_instructions;
}

/*
 * Bytes of code in a clock for two blocks of a multiprocessor, whose numbers are as far apart as
 * there are multiprocessors: so they run the same code if a panel has more blocks than that. Blocks
 * of a cluster run different chunks.
 */
static double pair_rate(const struct csrconv_block_machine *machine,
                        const struct csrconv_jit_tiling *t)
{
    const double apart = (double)machine->processors;
    const double same = fmin(1.0, fmax(0.0, ((double)t->blocks - apart) / apart));
    return two_stream_bytes + (t->chunks > 1 ? 0.0 : same * (same_stream_bytes - two_stream_bytes));
}

/*
 * Bytes of code in a clock for a multiprocessor: less where its neighbours run other code, if few
 * blocks have the same.
 */
static double stream_rate(const struct csrconv_jit_work *w,
                          const struct csrconv_block_machine *machine,
                          const struct csrconv_jit_tiling *t, double busy)
{
    const double residents = (double)t->residents;
    const double parts = (double)csrconv_jit_parts(w->shape, t);
    const double alone = t->residents > 1 ? pair_rate(machine, t) : stream_bytes;
    const double codes = fmin(parts, neighbours * busy * residents) / (double)t->blocks;
    return fmin(alone, neighbour_stream_bytes * residents / fmax(1.0, codes));
}

/*
 * Of things that go on at the same time, about: the longest, and more where several are long. The
 * eighth root of the sum of eighth powers.
 */
static double together(double a, double b, double c)
{
    const double times[] = { a, b, c }, longest = fmax(a, fmax(b, c));
    double sum = 0.0;
    for (int i = 0; i < 3; i++) {
        const double share = times[i] / longest, squared = share * share;
        sum += squared * squared * squared * squared;
    }
    return longest * sqrt(sqrt(sqrt(sum)));
}

/* Clocks of a multiprocessor for the code of its resident blocks, however it is bound. */
static double code_clocks(const struct csrconv_jit_work *w,
                          const struct csrconv_block_machine *machine,
                          const struct csrconv_jit_tiling *t, double busy)
{
    const double residents = (double)t->residents;
    const double warps = (double)(t->threads / CSRCONV_LANES) * residents;
    const double loads = chunk_loads(w, t);
    const double instructions = csrconv_jit_instructions(w, t);
    const double stream =
        instructions * instruction_bytes * residents / stream_rate(w, machine, t, busy);
    /* All warps go in step with the scheduler that has the most of them. */
    const double issue = instructions * ceil(warps / schedulers) / issue_share;
    return together(stream, issue, loads * warps * conflicts(w->shape));
}

/* Words of a channel that a block copies: of the images at its ends, if it trims, rows it sees. */
static double channel_words(const struct csrconv_shape *shape, const struct csrconv_jit_tiling *t)
{
    const double all = (double)t->slots * (double)t->channel_pitch;
    const double images = (double)t->span / (double)csrconv_jit_image_lanes(shape);
    const double around = (double)((shape->g.kernel_h - 1) * shape->g.dilation_h) + 1.0; /* rows */
    const double seen = images * (double)shape->plane + around * (double)shape->g.width;
    return t->trims ? fmin(all, seen) : all;
}

/* Clocks to copy a stage of the resident blocks. */
static double stage_copy_clocks(const struct csrconv_shape *shape,
                                const struct csrconv_jit_tiling *t, double busy)
{
    const double bytes =
        channel_words(shape, t) * (double)t->stage_channels * (double)t->residents * sizeof(float);
    return bytes / fmin(staged_bytes, shared_out_bytes / busy);
}

/* From the last stage to the end. */
static double end_clocks(const struct csrconv_jit_tiling *t)
{
    const double chunks = (double)t->chunks, residents = (double)t->residents;
    const double own = (double)t->filters * (double)t->threads * residents * sizeof(float) / chunks;
    const double exchange = exchange_clocks + (chunks - 1.0) * own / exchanged_bytes;
    return own / stored_bytes + (t->chunks > 1 ? exchange : 0.0);
}

/*
 * The first stage is waited for, the others come while there is code to run, which comes from the
 * second cache, too. Where blocks share a multiprocessor, one's first stage and end are hidden by
 * the other.
 */
double csrconv_jit_cost_us(const struct csrconv_jit_work *work,
                           const struct csrconv_block_machine *machine,
                           const struct csrconv_jit_tiling *tiling)
{
    const double share = tiling->chunks > 2 ? room_of_four : 1.0;
    const double places = share * (double)machine->processors * (double)tiling->residents;
    const double blocks = (double)tiling->blocks * (double)csrconv_jit_parts(work->shape, tiling);
    const double waves = ceil(blocks / places), stages = chunk_stages(tiling);
    const double busy = fmin(1.0, blocks / places); /* share of the multiprocessors */
    const double copy = stage_copy_clocks(work->shape, tiling, busy);
    const double stage = code_clocks(work, machine, tiling, busy) / stages + stage_clocks;
    const double ends = copy + end_clocks(tiling);
    const double middle = stage + (stages - 1.0) * sqrt(stage * stage + copy * copy);
    const double seen_ends = tiling->residents > 1 ? 1.0 : waves;
    return launch_us + (seen_ends * ends + waves * middle) / (machine->clock_ghz * 1e3);
}
