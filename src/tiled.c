#include "tiled.h"

#include "cpu_model.h"
#include "status.h"
#include "tile_pack.h"
#include "tiling.h"

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

csrconv_status csrconv_tiled_refuse(const struct csrconv_algorithm *self,
                                    const struct csrconv_problem *problem)
{
    const struct csrconv_tile_isa *isa = self->traits;
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

double csrconv_tiled_estimate(const struct csrconv_algorithm *self,
                              const struct csrconv_problem *problem)
{
    const double cycles_per_us = 2.7e3;
    struct division division;
    if (divide(problem, self->traits, &division))
        return HUGE_VAL; /* refused before */
    return csrconv_cpu_time_us(problem, division.cycles, cycles_per_us);
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

static int explain_part(const struct part *part, char *text, size_t size)
{
    const struct csrconv_tiling *t = &part->tiling;
    if (!part->is_used)
        return 0;
    return snprintf(text, size,
                    "%s: %" PRId64 " tiles of %" PRId64 " vectors%s, %" PRId64
                    " stored together, pitch %" PRId64 " for %" PRId64
                    " outputs, blocks of %" PRId64 " channels, %" PRId64
                    " chunks of filters, input %s",
                    t->images > 1 ? "images in lanes" : "pixels in lanes", t->tiles,
                    t->tile_vectors, t->rows > 1 ? " in two rows" : "", t->group, t->layout.pitch,
                    t->layout.positions, t->cut.block_channels, part->segments.chunks,
                    t->layout.in_place ? "read in place" : "laid out");
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
    used = explain_part(&tiled->vectors, prepared->detail, sizeof prepared->detail);
    if (used && tiled->singles.is_used)
        used +=
            snprintf(prepared->detail + used, sizeof prepared->detail - (size_t)used, "; then ");
    explain_part(&tiled->singles, prepared->detail + used, sizeof prepared->detail - (size_t)used);
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
    int64_t first, end; /* images */
    float *laid_out;    /* image blocks, image_floats apart */
    float *scratch;     /* of each worker, scratch_floats apart */
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

/* Tiles [begin, end) of one image block for the filters of one chunk. */
struct task {
    const struct wave *wave;
    struct csrconv_image_block block;
    const float *inputs; /* of position 0 */
    int64_t chunk, begin, end;
    int64_t filter_floats; /* from the sums of a filter to those of the next */
    /* Scratch of the worker. */
    float *sums;
    float *spare;
    struct csrconv_stretch_of_row *stretches;
};

/* The sums of the segment's filter, in those of one tile of all filters of the chunk. */
static float *sums_of(const struct task *task, float *tile_sums,
                      const struct csrconv_segment *segment)
{
    const int64_t first = task->wave->part->segments.chunk_begin[task->chunk];
    return tile_sums + (segment->filter - first) * task->filter_floats;
}

static struct csrconv_tile_place place_of(const struct task *task, int64_t tile)
{
    const struct csrconv_tiling *t = &task->wave->part->tiling;
    const struct csrconv_shape *shape = task->wave->run->shape;
    const float *first = task->inputs + csrconv_tiling_load(t, shape, tile) * t->layout.element;
    return (struct csrconv_tile_place){
        .first = first,
        .second = first + csrconv_tiling_second(t) * t->layout.element,
        .second_sums = csrconv_tiling_second_place(t, shape) * t->layout.element,
        .count = t->layout.in_place ? t->layout.positions : t->layout.lanes,
    };
}

/* The sums of all filters of the chunk over one tile: block by block of channels. */
static void sum_tile(const struct task *task, int64_t tile)
{
    const struct part *part = task->wave->part;
    const struct csrconv_tiling *t = &part->tiling;
    const struct csrconv_segments *s = &part->segments;
    const csrconv_tile_kernel kernel = task->wave->isa->kernels[t->tile_vectors - 1];
    const float *bias = task->wave->run->epilogue->bias;
    const struct csrconv_tile_place place = place_of(task, tile);
    float *tile_sums =
        task->sums +
        csrconv_tiling_place(t, task->wave->run->shape, task->begin, tile) * t->layout.element;
    const int64_t end = s->block_begin[(task->chunk + 1) * s->blocks];
    for (int64_t i = s->block_begin[task->chunk * s->blocks]; i < end; i++) {
        const struct csrconv_segment *segment = &s->segments[i];
        float *sums = sums_of(task, tile_sums, segment);
        kernel(&place, s->nonzeros + segment[0].begin, s->nonzeros + segment[1].begin,
               segment->is_first ? NULL : sums, bias ? bias[segment->filter] : 0.0F, sums,
               sums_of(task, tile_sums, i + 1 < end ? segment + 1 : segment));
    }
}

enum { LINE_BYTES = 64, FILTERS_AHEAD = 2 };

/*
 * Brings the output lines of filter m into the caches: they are written in short stretches of many
 * images, and each would wait for memory by itself.
 */
static void fetch_outputs(const struct task *task, const struct csrconv_stored *stored, int64_t m)
{
    const struct csrconv_run *run = task->wave->run;
    const struct csrconv_stretch_of_row *last = &stored->stretches[stored->count - 1];
    for (int64_t i = 0; i < task->block.count; i++) {
        const float *plane = run->out + (task->block.first + i) * run->shape->g.out_batch_stride +
                             m * run->shape->out_plane;
        const char *line = (const char *)(plane + stored->stretches[0].output);
        const char *end = (const char *)(plane + last->output + last->length);
        for (; line < end; line += LINE_BYTES)
            __builtin_prefetch(line);
        __builtin_prefetch(end - 1);
    }
}

static void run_task(const struct task *task)
{
    const struct wave *wave = task->wave;
    const struct part *part = wave->part;
    const struct csrconv_tiling *t = &part->tiling;
    const struct csrconv_shape *shape = wave->run->shape;
    const int64_t *chunk_begin = &part->segments.chunk_begin[task->chunk];
    struct csrconv_stored stored = { .stretches = task->stretches,
                                     .sums = task->sums,
                                     .spare = task->spare };
    stored.count = csrconv_tiling_find_stretches(t, shape, task->begin, task->end, task->stretches);
    if (!stored.count) /* the tiles lie between the outputs of one row and those of the next */
        return;
    for (int64_t tile = task->begin; tile < task->end; tile++)
        sum_tile(task, tile);
    stored.vectors = csrconv_tiling_places(t, shape, task->begin, task->end) * t->layout.element /
                     t->layout.lanes;
    for (int64_t m = chunk_begin[0]; m < chunk_begin[1]; m++) {
        if (m + FILTERS_AHEAD < chunk_begin[1])
            fetch_outputs(task, &stored, m + FILTERS_AHEAD);
        csrconv_store_sums(&part->tiling.layout, wave->isa, &task->block, &stored, m);
        stored.sums += task->filter_floats;
    }
}

/* Task i of a wave: image blocks, within these chunks, within these groups of tiles. */
static struct task make_task(const struct wave *wave, int64_t i, float *scratch)
{
    const struct part *part = wave->part;
    const struct csrconv_tiling *t = &part->tiling;
    const int64_t groups = csrconv_tiling_groups(t), chunks = part->segments.chunks;
    const int64_t b = i / groups / chunks, begin = i % groups * t->group;
    struct task task = { .wave = wave, .block = image_block(wave, b) };
    task.sums = scratch;
    task.spare = task.sums + part->scratch.sums;
    task.stretches = (struct csrconv_stretch_of_row *)(void *)(task.spare + part->scratch.spare);
    task.chunk = i / groups % chunks;
    task.begin = begin;
    task.end = begin + t->group < t->tiles ? begin + t->group : t->tiles;
    task.filter_floats = t->group * t->tile_vectors * t->layout.lanes;
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
            const struct task task = make_task(wave, i, scratch);
            run_task(&task);
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
                             memory + part->image_floats * part->tiling.wave };
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
