#include "tiled.h"

#include "cpu_features.h"
#include "cpu_model.h"
#include "status.h"
#include "tile_task.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { WORKERS_PER_THREAD = 4, MOST_LANES = 16 };

/* What a worker needs beside the image, in floats, each a multiple of a vector. */
struct scratch {
    int64_t sums;  /* of the filters of a chunk over a group of tiles */
    int64_t spare; /* those of one filter, turned around */
    int64_t floats;
};

/* One way to run images: a vector of them at a time, or one by one. */
struct part {
    bool is_used;
    struct csrconv_tiling tiling;
    struct csrconv_segments segments;
    int64_t image_floats; /* of a laid out image block */
    struct scratch scratch;
};

struct tiled {
    const struct csrconv_tile_isa *isa;
    struct part vectors; /* images in lanes */
    struct part singles;
};

/* How the images of a batch are divided among the parts. */
struct division {
    struct csrconv_tiling vectors, singles;
    int64_t by_vectors, by_singles; /* images */
    double cycles;
};

static double part_cycles(const struct csrconv_tiling *t, int64_t images)
{
    return t->cycles * (double)((images + t->images - 1) / t->images);
}

/* Tries the three ways to divide a batch: all in vectors, all one by one, whole vectors and a rest.
 */
static csrconv_status divide(const struct csrconv_problem *problem,
                             const struct csrconv_tile_isa *isa, struct division *d)
{
    const int64_t batch = problem->shape.g.batch, whole = batch / isa->lanes * isa->lanes;
    const int64_t tried[] = { 0, whole, batch };
    const int first = problem->without.pixels_in_lanes ? 2 : 0;
    const int last = problem->without.images_in_lanes ? 0 : 2;
    csrconv_status status;
    if ((status = csrconv_tiling_choose(problem, isa, true, batch, &d->vectors)) ||
        (status = csrconv_tiling_choose(problem, isa, false, batch, &d->singles)))
        return status;
    for (int i = first; i <= last; i++) {
        const double cycles =
            part_cycles(&d->vectors, tried[i]) + part_cycles(&d->singles, batch - tried[i]);
        if (i > first && cycles >= d->cycles)
            continue;
        d->cycles = cycles;
        d->by_vectors = tried[i];
        d->by_singles = batch - tried[i];
    }
    if (d->by_singles && d->by_singles < batch)
        status = csrconv_tiling_choose(problem, isa, false, d->by_singles, &d->singles);
    return status;
}

static csrconv_status refuse(const struct csrconv_problem *problem,
                             const struct csrconv_tile_isa *isa)
{
    const int64_t filters = problem->shape.g.filters;
    struct csrconv_tile_layout layout;
    const csrconv_status status = isa->need();
    if (status)
        return status;
    if (filters > INT32_MAX)
        return csrconv_fail(CSRCONV_NOT_SUPPORTED,
                            "%" PRId64 " filters: they are counted in 32 bits", filters);
    return csrconv_tile_layout_init(&layout, &problem->shape, isa->lanes, false);
}

csrconv_status csrconv_tiled_estimate(const struct csrconv_algorithm *self,
                                      const struct csrconv_problem *problem,
                                      struct csrconv_estimate *estimate)
{
    const double cycles_per_us = 2.7e3;
    struct division division;
    csrconv_status status = refuse(problem, self->traits);
    if (status || (status = divide(problem, self->traits, &division)))
        return status;
    estimate->us = csrconv_cpu_time_us(problem, division.cycles, cycles_per_us);
    return CSRCONV_OK;
}

static int64_t round_up(int64_t floats)
{
    return (floats + MOST_LANES - 1) / MOST_LANES * MOST_LANES;
}

static struct scratch scratch_of(const struct csrconv_tiling *t, int64_t chunk_filters)
{
    const int64_t lanes = t->layout.lanes, vectors = t->group * t->tile_vectors;
    const int64_t stretches = t->group * csrconv_tiling_most_stretches(t);
    const int64_t floats = sizeof(struct csrconv_stretch_of_row) / sizeof(float);
    struct scratch scratch;
    /* Squares of lanes x lanes are turned, and the last one may reach beyond the sums. */
    scratch.sums = round_up((chunk_filters * vectors + lanes) * lanes);
    scratch.spare = round_up((vectors + lanes) * lanes);
    scratch.floats = scratch.sums + scratch.spare + round_up(stretches * floats);
    return scratch;
}

static csrconv_status make_part(const struct csrconv_problem *problem,
                                const struct csrconv_tiling *tiling, struct csrconv_memory *memory,
                                struct part *part)
{
    const struct csrconv_tile_layout *l = &tiling->layout;
    const csrconv_status status = csrconv_segments_make(problem->weights, &problem->shape, l,
                                                        &tiling->cut, memory, &part->segments);
    part->is_used = true;
    part->tiling = *tiling;
    if (!l->in_place)
        part->image_floats =
            round_up(csrconv_tile_image_floats(l, &problem->shape, tiling->tile_vectors));
    part->scratch = scratch_of(tiling, part->segments.chunk_filters);
    return status;
}

static int64_t workers(const struct csrconv_team *team)
{
    return team->threads == 1 ? 1 : (int64_t)team->threads * WORKERS_PER_THREAD;
}

static int64_t part_floats(const struct part *part, const struct csrconv_team *team)
{
    return part->is_used
               ? part->image_floats * part->tiling.wave + part->scratch.floats * workers(team)
               : 0;
}

static bool is_in_place(const struct part *part)
{
    return !part->is_used || part->tiling.layout.in_place;
}

/*
 * Outputs that the last cache cannot hold would only push everything else out of it. Those of many
 * images at once are written in short stretches, each line of which is waited for; so they go past
 * the caches much earlier, though whoever reads them next has to fetch them.
 */
static bool is_streamed(const struct part *part, const struct csrconv_shape *shape, int64_t images)
{
    const double most = (double)csrconv_cache_bytes(3) / (part->tiling.images > 1 ? 8.0 : 1.0);
    return (double)shape->out_image * (double)images * (double)sizeof(float) > most;
}

/* Half of the last cache: it is not this run's alone, and evicts before it is full. */
static bool is_from_memory(const struct csrconv_shape *shape, int64_t images)
{
    return (double)(shape->in_image + shape->out_image) * (double)images * (double)sizeof(float) >
           (double)csrconv_cache_bytes(3) / 2.0;
}

static int explain_part(const struct part *part, const struct csrconv_shape *shape, char *text,
                        size_t size)
{
    const struct csrconv_tiling *t = &part->tiling;
    if (!part->is_used)
        return 0;
    return snprintf(
        text, size,
        "%s: %" PRId64 " tiles of %" PRId64 " vectors%s, %" PRId64
        " stored together, pitch %" PRId64 " for %" PRId64 " outputs, blocks of %" PRId64
        " channels, %" PRId64 " chunks of filters, input %s%s",
        t->images > 1 ? "images in lanes" : "pixels in lanes", t->tiles, t->tile_vectors,
        !t->row_tiles ? ""
        : t->rows > 1 ? " in two rows"
                      : " in a row",
        t->group, t->layout.pitch, t->layout.positions, t->cut.block_channels,
        part->segments.chunks, t->layout.in_place ? "read in place" : "laid out",
        is_streamed(part, shape, shape->g.batch) ? ", output past the caches" : "");
}

csrconv_status csrconv_tiled_prepare(const struct csrconv_algorithm *self,
                                     const struct csrconv_problem *problem,
                                     struct csrconv_prepared *prepared)
{
    const struct csrconv_tile_isa *isa = self->traits;
    struct csrconv_memory *memory = &prepared->memory;
    struct division division;
    struct tiled *tiled;
    int used;
    csrconv_status status;
    if ((status = divide(problem, isa, &division)) ||
        (status = csrconv_allocate(memory, 1, sizeof *tiled, &prepared->state)))
        return status;
    tiled = prepared->state;
    memset(tiled, 0, sizeof *tiled);
    tiled->isa = isa;
    if (division.by_vectors)
        status = make_part(problem, &division.vectors, memory, &tiled->vectors);
    if (!status && division.by_singles)
        status = make_part(problem, &division.singles, memory, &tiled->singles);
    if (status)
        return status;
    prepared->workspace_bytes = (size_t)(part_floats(&tiled->vectors, &problem->team) +
                                         part_floats(&tiled->singles, &problem->team)) *
                                sizeof(float);
    prepared->is_in_place = is_in_place(&tiled->vectors) && is_in_place(&tiled->singles);
    used =
        explain_part(&tiled->vectors, &problem->shape, prepared->detail, sizeof prepared->detail);
    if (used && tiled->singles.is_used)
        used +=
            snprintf(prepared->detail + used, sizeof prepared->detail - (size_t)used, "; then ");
    explain_part(&tiled->singles, &problem->shape, prepared->detail + used,
                 sizeof prepared->detail - (size_t)used);
    return CSRCONV_OK;
}

void csrconv_tiled_destroy(const struct csrconv_memory *memory, void *state)
{
    struct tiled *tiled = state;
    if (!tiled)
        return;
    csrconv_segments_free(memory, &tiled->vectors.segments);
    csrconv_segments_free(memory, &tiled->singles.segments);
    csrconv_release(memory, tiled);
}

/* Images of a run in one part, a wave of image blocks at a time. */
struct wave {
    const struct csrconv_tile_isa *isa;
    const struct part *part;
    const struct csrconv_run *run;
    int64_t first, end;  /* images */
    float *laid_out;     /* image blocks, image_floats apart */
    float *scratch;      /* of each worker, scratch_floats apart */
    bool is_from_memory; /* inputs that are read in place */
    bool is_streamed;    /* outputs go past the caches */
};

static int64_t wave_blocks(const struct wave *wave)
{
    const int64_t images = wave->part->tiling.images;
    return (wave->end - wave->first + images - 1) / images;
}

static struct csrconv_image_block image_block(const struct wave *wave, int64_t i)
{
    const int64_t images = wave->part->tiling.images, first = wave->first + i * images;
    const int64_t left = wave->end - first;
    return (struct csrconv_image_block){ wave->run, first, left < images ? left : images };
}

/* Items are the channels of the wave's image blocks. */
static void pack_channels(void *argument, int64_t begin, int64_t end)
{
    const struct wave *wave = argument;
    const struct csrconv_tile_layout *l = &wave->part->tiling.layout;
    const int64_t channels = wave->run->shape->g.channels;
    while (begin < end) {
        const int64_t b = begin / channels, c = begin % channels;
        const int64_t many = channels - c < end - begin ? channels - c : end - begin;
        const struct csrconv_image_block block = image_block(wave, b);
        csrconv_pack_channels(l, wave->isa, &block, c, c + many,
                              wave->laid_out + b * wave->part->image_floats +
                                  c * l->channel_stride * l->element);
        begin += many;
    }
}

/* Task i of a wave: image blocks, within these chunks, within these groups of tiles. */
static struct csrconv_tile_task make_task(const struct wave *wave, int64_t i, float *scratch)
{
    const struct part *part = wave->part;
    const struct csrconv_tiling *t = &part->tiling;
    const int64_t groups = csrconv_tiling_groups(t), chunks = part->segments.chunks;
    const int64_t b = i / groups / chunks, begin = i % groups * t->group;
    struct csrconv_tile_task task = { .isa = wave->isa,
                                      .tiling = t,
                                      .segments = &part->segments,
                                      .block = image_block(wave, b),
                                      .is_from_memory = wave->is_from_memory,
                                      .is_streamed = wave->is_streamed };
    task.sums = scratch;
    task.spare = task.sums + part->scratch.sums;
    task.stretches = (struct csrconv_stretch_of_row *)(void *)(task.spare + part->scratch.spare);
    task.chunk = i / groups % chunks;
    task.begin = begin;
    task.end = begin + t->group < t->tiles ? begin + t->group : t->tiles;
    task.inputs = t->layout.in_place
                      ? wave->run->in + task.block.first * wave->run->shape->g.in_batch_stride
                      : wave->laid_out + b * part->image_floats;
    return task;
}

/* Items are the workers: each takes a share of the tasks. */
static void compute_tasks(void *argument, int64_t begin, int64_t end)
{
    const struct wave *wave = argument;
    const struct part *part = wave->part;
    const int64_t tasks =
        wave_blocks(wave) * part->segments.chunks * csrconv_tiling_groups(&part->tiling);
    const int64_t all = workers(wave->run->team);
    for (int64_t worker = begin; worker < end; worker++) {
        float *scratch = wave->scratch + worker * part->scratch.floats;
        for (int64_t i = tasks * worker / all; i < tasks * (worker + 1) / all; i++) {
            const struct csrconv_tile_task task = make_task(wave, i, scratch);
            csrconv_tile_task_run(&task);
        }
    }
}

static void lay_out_wave(struct wave *wave)
{
    if (!wave->part->tiling.layout.in_place)
        csrconv_team_run(wave->run->team, wave_blocks(wave) * wave->run->shape->g.channels,
                         pack_channels, wave);
}

/* Runs images [first, first + count) through one part; compute = false lays them out only. */
static void run_part(const struct tiled *tiled, const struct part *part,
                     const struct csrconv_run *run, int64_t first, int64_t count, float *memory,
                     bool compute)
{
    const int64_t at_once = part->tiling.wave * part->tiling.images;
    for (int64_t i = 0; i < count; i += at_once) {
        const int64_t end = i + at_once < count ? i + at_once : count;
        struct wave wave = { tiled->isa,
                             part,
                             run,
                             first + i,
                             first + end,
                             memory,
                             memory + part->image_floats * part->tiling.wave,
                             is_from_memory(run->shape, run->n),
                             is_streamed(part, run->shape, run->n) };
        lay_out_wave(&wave);
        if (compute)
            csrconv_team_run(run->team, workers(run->team), compute_tasks, &wave);
    }
}

static void run_all(const struct tiled *tiled, const struct csrconv_run *run, bool compute)
{
    const int64_t lanes = tiled->isa->lanes;
    const int64_t by_vectors = !tiled->vectors.is_used  ? 0
                               : tiled->singles.is_used ? run->n / lanes * lanes
                                                        : run->n;
    float *memory = run->workspace;
    run_part(tiled, &tiled->vectors, run, 0, by_vectors, memory, compute);
    run_part(tiled, &tiled->singles, run, by_vectors, run->n - by_vectors,
             memory + part_floats(&tiled->vectors, run->team), compute);
}

csrconv_status csrconv_tiled_lay_out(const void *state, const struct csrconv_run *run)
{
    run_all(state, run, false);
    return CSRCONV_OK;
}

csrconv_status csrconv_tiled_execute(const void *state, const struct csrconv_run *run)
{
    run_all(state, run, true);
    return CSRCONV_OK;
}
