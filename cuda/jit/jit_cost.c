#include "jit_cost.h"

#include "csr.h"
#include "integers.h"
#include "jit_positions.h"

#include <math.h>

/* Of an H200, fitted to the published layers; docs/performance-notes-jit.md says how well. */
static const double instruction_bytes = 16;
static const double stream_bytes = 2.11;      /* of code, in a clock, by one block alone */
static const double two_stream_bytes = 3.4;   /* by two blocks together */
static const double same_stream_bytes = 4.72; /* by two that run the same */
static const double neighbour_stream_bytes =
    21.7;                               /* by all neighbours, which share a way to the code */
static const double neighbours = 16.5;  /* multiprocessors */
static const double issue_share = 0.87; /* of the four schedulers */
static const double schedulers = 4;
static const double stage_clocks = 12;         /* until all warps are in step and under way again */
static const double masked_instructions = 3.5; /* of a masked position, in a stage */
static const double cleared_instructions = 1.8; /* more where its register is not kept */
static const double filter_instructions = 5;    /* sums cleared, finished and stored */
static const double block_instructions = 121;
static const double copy_clocks = 604;        /* from a copy's begin until it is there */
static const double copy_begin_clocks = 10.8; /* of a multiprocessor, until it takes the next */
static const double staged_bytes = 128;       /* copied in a clock, at most */
static const double shared_out_bytes = 25.5;  /* when all multiprocessors copy */
static const double wide_stage_bytes = 70e3;
static const double wide_stage_share = 1.06; /* of the time, with stages of more: not understood */
static const double stored_bytes = 61.4;     /* in a clock */
static const double exchange_clocks = 486;   /* until blocks of a cluster have each other's sums */
static const double exchanged_bytes = 19;    /* in a clock */
static const double room_of_four = 0.92;     /* of the multiprocessors: where clusters of 4 fit */
static const double launch_us = 0.2;         /* of a kernel that begins before the last has ended */
static const double cached_bytes = 50e6;     /* inputs and outputs that the second cache holds */
static const double memory_bytes = 2615;     /* of the GPU's memory, in a clock */

/* Of a stage: predicates of masked positions, and registers cleared where none is kept for each. */
static double mask_instructions(const struct csrconv_shape *shape)
{
    const double cleared = csrconv_jit_keeps_registers(shape) ? 0.0 : cleared_instructions;
    return (masked_instructions + cleared) * (double)csrconv_jit_count_masked(shape);
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
    work->loads[0] = 0.0; /* not 0 times the logarithm of 0, where there are no zeros */
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

/* Stages of the longest chunk. */
static double chunk_stages(const struct csrconv_jit_tiling *t)
{
    return (double)csrconv_ceil_divide(t->stages, t->chunks);
}

/* The longest chunk's share of the channels. */
static double chunk_share(const struct csrconv_jit_work *w, const struct csrconv_jit_tiling *t)
{
    const double channels = chunk_stages(t) * (double)t->stage_channels;
    return fmin(1.0, channels / (double)w->shape->group_channels);
}

static double chunk_loads(const struct csrconv_jit_work *w, const struct csrconv_jit_tiling *t)
{
    return csrconv_jit_expected_loads(w, t->filters) * chunk_share(w, t);
}

double csrconv_jit_instructions(const struct csrconv_jit_work *work,
                                const struct csrconv_jit_tiling *tiling)
{
    const double filters = (double)tiling->filters;
    const double products =
        filters * (double)work->shape->columns * work->density * chunk_share(work, tiling);
    return products + chunk_loads(work, tiling) + chunk_stages(tiling) * work->stage_instructions +
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

static double stage_bytes(const struct csrconv_shape *shape, const struct csrconv_jit_tiling *t)
{
    return channel_words(shape, t) * (double)t->stage_channels * sizeof(float);
}

/* Clocks to copy a stage of the resident blocks, by themselves. */
static double stage_copy_clocks(const struct csrconv_shape *shape,
                                const struct csrconv_jit_tiling *t, double busy)
{
    const double residents = (double)t->residents;
    const double copies = (double)csrconv_jit_copies_of(shape, t, 0).count * residents;
    const double bytes = stage_bytes(shape, t) * residents;
    return copy_clocks + copies * copy_begin_clocks +
           bytes / fmin(staged_bytes, shared_out_bytes / busy);
}

/* Of two things that go on at the same time and wait for each other now and then. */
static double beside(double a, double b)
{
    return sqrt(a * a + b * b);
}

/* Clocks from when the first stage is there until the last is worked through. */
static double stages_clocks(const struct csrconv_shape *shape, const struct csrconv_jit_tiling *t,
                            double code, double copy)
{
    const double stages = chunk_stages(t), stage = code / stages + stage_clocks;
    const bool is_wide = stages > 1.0 && stage_bytes(shape, t) > wide_stage_bytes;
    const double clocks = stage + (stages - 1.0) * beside(stage, copy);
    return is_wide ? clocks * wide_stage_share : clocks;
}

/* From the last stage to the end. */
static double end_clocks(const struct csrconv_jit_tiling *t)
{
    const double chunks = (double)t->chunks, residents = (double)t->residents;
    const double own = (double)t->filters * (double)t->threads * residents * sizeof(float) / chunks;
    const double exchange = exchange_clocks + (chunks - 1.0) * own / exchanged_bytes;
    return own / stored_bytes + (t->chunks > 1 ? exchange : 0.0);
}

/* Clocks of the GPU's memory, of which what the second cache can hold wants none. */
static double memory_clocks(const struct csrconv_shape *shape)
{
    const double in = (double)shape->g.channels * (double)shape->plane;
    const double out = (double)shape->g.filters * (double)shape->out_plane;
    const double bytes = (double)shape->g.batch * (in + out) * sizeof(float);
    return bytes > cached_bytes ? bytes / memory_bytes : 0.0;
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
    const double waves = ceil(blocks / places);
    const double busy = fmin(1.0, blocks / places); /* share of the multiprocessors */
    const double copy = stage_copy_clocks(work->shape, tiling, busy);
    const double code = code_clocks(work, machine, tiling, busy);
    const double ends = copy + end_clocks(tiling);
    const double middle = stages_clocks(work->shape, tiling, code, copy);
    const double seen_ends = tiling->residents > 1 ? 1.0 : waves;
    const double clocks = beside(seen_ends * ends + waves * middle, memory_clocks(work->shape));
    return launch_us + clocks / (machine->clock_ghz * 1e3);
}
