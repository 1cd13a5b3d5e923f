#include "tiled.h"

#include "cpu_model.h"
#include "tile_pack.h"
#include "tiling.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { WORKERS_PER_THREAD = 4, MOST_LANES = 16 };

/* One way to run images: a vector of them at a time, or one by one. */
struct part {
    bool is_used;
    struct csrconv_tiling tiling;
    struct csrconv_segments segments;
    int64_t image_floats;   /* of a laid out image block */
    int64_t scratch_floats; /* of a worker */
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
    csrconv_status status;
    if ((status = csrconv_tiling_choose(problem, isa, true, batch, &d->vectors)) ||
        (status = csrconv_tiling_choose(problem, isa, false, batch, &d->singles)))
        return status;
    for (int i = 0; i < 3; i++) {
        const double cycles =
            part_cycles(&d->vectors, tried[i]) + part_cycles(&d->singles, batch - tried[i]);
        if (i && cycles >= d->cycles)
            continue;
        d->cycles = cycles;
        d->by_vectors = tried[i];
        d->by_singles = batch - tried[i];
    }
    if (d->by_singles && d->by_singles < batch)
        status = csrconv_tiling_choose(problem, isa, false, d->by_singles, &d->singles);
    return status;
}

csrconv_status csrconv_tiled_refuse(const struct csrconv_problem *problem,
                                    const struct csrconv_tile_isa *isa)
{
    struct csrconv_tile_layout layout;
    return csrconv_tile_layout_init(&layout, &problem->shape, isa->lanes, false);
}

double csrconv_tiled_estimate(const struct csrconv_problem *problem,
                              const struct csrconv_tile_isa *isa)
{
    const double cycles_per_us = 2.7e3;
    struct division division;
    if (divide(problem, isa, &division))
        return 0.0;
    return csrconv_cpu_time_us(problem, division.cycles, cycles_per_us);
}

static csrconv_status make_part(const struct csrconv_problem *problem,
                                const struct csrconv_tiling *tiling, struct csrconv_memory *memory,
                                struct part *part)
{
    const struct csrconv_tile_layout *l = &tiling->layout;
    const int64_t row = (tiling->tile_vectors + l->lanes - 1) / l->lanes * l->lanes;
    const csrconv_status status = csrconv_segments_make(problem->weights, &problem->shape, l,
                                                        &tiling->cut, memory, &part->segments);
    part->is_used = true;
    part->tiling = *tiling;
    part->image_floats =
        l->in_place ? 0
                    : (csrconv_tile_image_floats(l, &problem->shape, tiling->tile_vectors) +
                       MOST_LANES - 1) /
                          MOST_LANES * MOST_LANES;
    part->scratch_floats =
        part->segments.chunk_filters * tiling->tile_vectors * l->lanes + 2 * row * l->lanes;
    return status;
}

static int64_t workers(const struct csrconv_team *team)
{
    return team->threads == 1 ? 1 : (int64_t)team->threads * WORKERS_PER_THREAD;
}

static int64_t part_floats(const struct part *part, const struct csrconv_team *team)
{
    return part->is_used
               ? part->image_floats * part->tiling.wave + part->scratch_floats * workers(team)
               : 0;
}

static int explain_part(const struct part *part, char *text, size_t size)
{
    const struct csrconv_tiling *t = &part->tiling;
    if (!part->is_used)
        return 0;
    return snprintf(text, size,
                    "%s: %" PRId64 " tiles of %" PRId64 " vectors, pitch %" PRId64 " for %" PRId64
                    " outputs, blocks of %" PRId64 " channels, %" PRId64
                    " chunks of filters, input %s; ",
                    t->images > 1 ? "images in lanes" : "pixels in lanes", t->tiles,
                    t->tile_vectors, t->layout.pitch, t->layout.positions, t->cut.block_channels,
                    part->segments.chunks, t->layout.in_place ? "read in place" : "laid out");
}

csrconv_status csrconv_tiled_prepare(const struct csrconv_problem *problem,
                                     struct csrconv_prepared *prepared,
                                     const struct csrconv_tile_isa *isa)
{
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
    used = explain_part(&tiled->vectors, prepared->detail, sizeof prepared->detail);
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
    for (int64_t i = begin; i < end; i++) {
        const int64_t b = i / channels, c = i % channels;
        const struct csrconv_image_block block = image_block(wave, b);
        csrconv_pack_channel(l, wave->isa, &block, c,
                             wave->laid_out + b * wave->part->image_floats +
                                 c * l->channel_stride * l->element);
    }
}

/* One tile of one image block for the filters of one chunk. */
static void compute_tile(const struct wave *wave, int64_t b, int64_t chunk, int64_t tile,
                         float *scratch)
{
    const struct part *part = wave->part;
    const struct csrconv_tiling *t = &part->tiling;
    const struct csrconv_segments *s = &part->segments;
    const struct csrconv_image_block block = image_block(wave, b);
    const csrconv_tile_kernel kernel = wave->isa->kernels[t->tile_vectors - 1];
    const int64_t size = t->tile_vectors * t->layout.lanes;
    const int64_t first_segment = s->block_begin[chunk * s->blocks];
    const int64_t end_segment = s->block_begin[(chunk + 1) * s->blocks];
    const float *bias = wave->run->epilogue->bias;
    float *const spare = scratch + s->chunk_filters * size;
    struct csrconv_stretch_of_row stretches[CSRCONV_MOST_TILE_POSITIONS];
    int64_t load, begin, end;
    int count;
    const float *inputs;
    csrconv_tiling_tile(t, tile, &load, &begin, &end);
    count = csrconv_tile_stretches(&t->layout, wave->run->shape, load, begin, end, stretches);
    inputs = t->layout.in_place ? wave->run->in + block.first * wave->run->shape->g.in_batch_stride
                                : wave->laid_out + b * part->image_floats;
    inputs += load * t->layout.element;
    for (int64_t i = first_segment; i < end_segment; i++) {
        const struct csrconv_segment *segment = &s->segments[i];
        float *sums = scratch + (segment->filter - s->chunk_begin[chunk]) * size;
        kernel(inputs, s->nonzeros + segment[0].begin, s->nonzeros + segment[1].begin,
               segment->is_first ? NULL : sums, bias ? bias[segment->filter] : 0.0F, sums);
        if (segment->is_last)
            csrconv_store_tile(&t->layout, wave->isa, &block, stretches, count, segment->filter,
                               t->tile_vectors, sums, spare);
    }
}

/* Items are the workers: each takes a share of the tiles of all chunks of the wave. */
static void compute_tiles(void *argument, int64_t begin, int64_t end)
{
    const struct wave *wave = argument;
    const int64_t tiles = wave->part->tiling.tiles, chunks = wave->part->segments.chunks;
    const int64_t tasks = wave_blocks(wave) * chunks * tiles;
    const int64_t all = workers(wave->run->team);
    for (int64_t worker = begin; worker < end; worker++) {
        float *scratch = wave->scratch + worker * wave->part->scratch_floats;
        for (int64_t i = tasks * worker / all; i < tasks * (worker + 1) / all; i++)
            compute_tile(wave, i / tiles / chunks, i / tiles % chunks, i % tiles, scratch);
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
            csrconv_team_run(run->team, workers(run->team), compute_tiles, &wave);
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
