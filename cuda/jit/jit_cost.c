#include "jit_cost.h"

#include "csr.h"
#include "jit_positions.h"

#include <math.h>

/* Of an H200; docs/performance-notes-gpu.md says how they were found. */
static const double instruction_bytes = 16;
static const double stream_bytes = 2.6;      /* of code, in a clock, by one block alone */
static const double two_stream_bytes = 3.8;  /* by two blocks together */
static const double issue_share = 0.82;      /* of the four schedulers */
static const double stage_instructions = 20; /* waits, and what brings another stage */
static const double stage_clocks = 150;      /* until all warps are in step again */
static const double first_clocks = 1000; /* a block's beginning, until its first copies are there */
static const double group_instructions = 8;  /* predicates of a group of positions */
static const double filter_instructions = 5; /* sums cleared, finished and stored */
static const double block_instructions = 200;
static const double staging_share = 0.05; /* of the time of copies that nothing hides */
static const double stage_bytes = 21;     /* copied in a clock, when all multiprocessors do */
static const double launch_us = 2.5;
static const double dram_bytes_per_us = 4.0e6;

static double loads_of(const struct csrconv_jit_work *work, int64_t filters)
{
    return (double)work->shape->columns * -expm1((double)filters * work->log_sparsity);
}

void csrconv_jit_work_init(const struct csrconv_problem *problem, struct csrconv_jit_work *work)
{
    const struct csrconv_shape *shape = &problem->shape;
    work->shape = shape;
    work->positions = (double)csrconv_jit_positions(shape);
    work->density = (double)csrconv_nonzeros(problem->weights) /
                    ((double)shape->g.filters * (double)shape->columns);
    work->log_sparsity = log1p(-work->density);
    for (int64_t filters = 0; filters <= CSRCONV_JIT_TABLED_FILTERS; filters++)
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

double csrconv_jit_instructions(const struct csrconv_jit_work *work,
                                const struct csrconv_jit_tiling *tiling)
{
    const double filters = (double)tiling->filters, stages = (double)tiling->stages;
    const double products = filters * (double)work->shape->columns * work->density;
    return products + csrconv_jit_expected_loads(work, tiling->filters) +
           stages *
               (stage_instructions + group_instructions * (double)csrconv_jit_groups(work->shape)) +
           filters * filter_instructions + block_instructions;
}

/* Clocks of a multiprocessor for the code of its resident blocks, however it is bound. */
static double code_clocks(const struct csrconv_jit_work *w, const struct csrconv_jit_tiling *t)
{
    const double residents = (double)t->residents;
    const double warps = (double)(t->threads / CSRCONV_LANES) * residents;
    const double loads = csrconv_jit_expected_loads(w, t->filters);
    const double instructions = csrconv_jit_instructions(w, t);
    const double stream = instructions * instruction_bytes * residents /
                          (residents > 1.0 ? two_stream_bytes : stream_bytes);
    const double issue = instructions * warps / (4.0 * issue_share);
    return fmax(stream, fmax(issue, loads * warps * conflicts(w->shape))) +
           (double)t->stages * stage_clocks;
}

/* Bytes that a block stages, in so many of its stages. */
static double staged_bytes(const struct csrconv_jit_tiling *t, int64_t stages)
{
    return (double)t->slots * (double)stages * (double)t->stage_channels *
           (double)t->channel_pitch * sizeof(float);
}

double csrconv_jit_cost_us(const struct csrconv_jit_work *work,
                           const struct csrconv_block_machine *machine,
                           const struct csrconv_jit_tiling *tiling)
{
    const struct csrconv_shape *shape = work->shape;
    const double residents = (double)tiling->residents;
    const double panels = (double)(tiling->panels * shape->g.groups);
    const double waves =
        ceil((double)tiling->blocks * panels / ((double)machine->processors * residents));
    const double staging = staged_bytes(tiling, tiling->stages) * residents / stage_bytes;
    const double first = staged_bytes(tiling, 1) * residents / stage_bytes;
    const double clocks =
        first_clocks + first + fmax(staging, code_clocks(work, tiling) + staging_share * staging);
    const double stored = (double)shape->g.batch * (double)shape->out_image * sizeof(float);
    return launch_us + waves * clocks / (machine->clock_ghz * 1e3) + stored / dram_bytes_per_us;
}
