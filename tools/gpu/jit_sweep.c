/*
 * Measures tilings of cuda_jit beside what they are estimated to take: what the constants in
 * cuda/jit/jit_cost.c are fitted to.
 *
 *   jit_sweep SPARSITY COUNT [KNOB=VALUE | PROBLEM] ...
 *
 * Of each problem COUNT ways to cut it, among those that have the values that the knobs before it
 * ask for, as sweep.h tells. Knobs: threads, residents, flat, trims, filters, stage_channels, ring,
 * chunks; 0 asks for nothing, which is -1 for flat and trims; ring is 1 or 2. unit_parts and step
 * are set, not asked for. no_eviction=1 and natural_rows=1 do without these choices.
 */
#include "complain.h"
#include "cuda_jit.h"
#include "cuda_tiled.h"
#include "number.h"
#include "sweep.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    THREADS,
    RESIDENTS,
    FLAT,
    TRIMS,
    FILTERS,
    STAGE_CHANNELS,
    RING,
    CHUNKS,
    UNIT_PARTS,
    STEP,
    NO_EVICTION,
    NATURAL_ROWS,
    KNOBS
};

static struct knob {
    const char *name;
    int64_t value;
} knobs[KNOBS] = { { "threads", 0 }, { "residents", 0 },   { "flat", -1 },
                   { "trims", -1 },  { "filters", 0 },     { "stage_channels", 0 },
                   { "ring", 0 },    { "chunks", 0 },      { "unit_parts", 0 },
                   { "step", 0 },    { "no_eviction", 0 }, { "natural_rows", 0 } };

/* The least value of a knob, which asks for nothing. */
static int64_t least_of(int knob)
{
    return knob == FLAT || knob == TRIMS ? -1 : 0;
}

static bool is_asked(int knob, int64_t value)
{
    const int64_t anything = least_of(knob);
    return knobs[knob].value == anything || knobs[knob].value == value;
}

static void keep(void *list, const struct csrconv_jit_tiling *tiling)
{
    struct csrconv_jit_tiling changed = *tiling;
    if (knobs[UNIT_PARTS].value)
        changed.unit_parts = knobs[UNIT_PARTS].value;
    changed.step = knobs[STEP].value;
    if (is_asked(THREADS, tiling->threads) && is_asked(RESIDENTS, tiling->residents) &&
        is_asked(FLAT, tiling->is_flat) && is_asked(TRIMS, tiling->trims) &&
        is_asked(FILTERS, tiling->filters) && is_asked(STAGE_CHANNELS, tiling->stage_channels) &&
        is_asked(RING, tiling->ring) && is_asked(CHUNKS, tiling->chunks))
        sweep_append(list, &changed);
}

static csrconv_status list_tilings(const struct csrconv_algorithm *algorithm,
                                   const struct csrconv_problem *problem, void *list)
{
    struct csrconv_block_machine machine;
    const csrconv_status status = csrconv_tiled_machine(&machine);
    (void)algorithm;
    if (!status)
        csrconv_jit_tiling_each(problem, &machine, keep, list);
    return status;
}

static double estimate_us(const void *tiling)
{
    return ((const struct csrconv_jit_tiling *)tiling)->us;
}

static csrconv_status prepare(const struct csrconv_problem *problem, const void *tiling,
                              struct csrconv_prepared *prepared)
{
    struct csrconv_problem changed = *problem;
    changed.without.eviction = knobs[NO_EVICTION].value != 0;
    changed.without.row_order = knobs[NATURAL_ROWS].value != 0;
    return csrconv_jit_prepare_as(&changed, tiling, prepared);
}

static void print(const void *tiling, FILE *file)
{
    const struct csrconv_jit_tiling *t = tiling;
    const int64_t columns[] = { t->threads,
                                t->residents,
                                t->is_flat,
                                t->span,
                                t->slots,
                                t->trims,
                                t->rows,
                                t->columns,
                                t->filters,
                                t->panels,
                                t->unit_parts,
                                t->stages,
                                t->stage_channels,
                                t->ring,
                                t->chunks,
                                t->step,
                                knobs[NO_EVICTION].value,
                                knobs[NATURAL_ROWS].value };
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        fprintf(file, "%s%" PRId64, i ? "," : "", columns[i]);
}

static const struct sweep_kernel kernel = {
    .algorithm = "cuda_jit",
    .columns =
        "threads,residents,flat,span,slots,trims,rows,columns,filters,panels,unit_parts,stages,"
        "stage_channels,ring,chunks,step,no_eviction,natural_rows",
    .tiling_bytes = sizeof(struct csrconv_jit_tiling),
    .list = list_tilings,
    .estimate_us = estimate_us,
    .prepare = prepare,
    .print = print,
};

/* The knob that is set by KNOB=VALUE; NULL: the argument is a problem. */
static struct knob *knob_of(const char *argument)
{
    for (int i = 0; i < KNOBS; i++) {
        const size_t length = strlen(knobs[i].name);
        if (strncmp(argument, knobs[i].name, length) == 0 && argument[length] == '=')
            return &knobs[i];
    }
    return NULL;
}

static int take_argument(const char *argument, double sparsity, int64_t count)
{
    struct knob *const knob = knob_of(argument);
    return knob ? number_whole(knob->name, argument + strlen(knob->name) + 1,
                               least_of((int)(knob - knobs)), INT32_MAX, &knob->value)
                : sweep_problem(&kernel, argument, sparsity, count);
}

static int take_arguments(int argc, char **argv)
{
    double sparsity;
    int64_t count;
    int code;
    if (argc < 4)
        return complain(EXIT_BAD, "usage", "jit_sweep SPARSITY COUNT [KNOB=VALUE | PROBLEM] ...");
    code = sweep_numbers(argv, &sparsity, &count);
    if (!code)
        sweep_header(&kernel);
    for (int i = 3; i < argc && !code; i++)
        code = take_argument(argv[i], sparsity, count);
    return code;
}

int main(int argc, char **argv)
{
    const int code = take_arguments(argc, argv);
    if (code)
        fprintf(stderr, "jit_sweep: %s\n", complaint());
    return code;
}
