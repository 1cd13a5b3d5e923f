#include "tile_task.h"

enum { FILTERS_AHEAD = 2 };

/* Floats from the sums of a filter to those of the next. */
static int64_t filter_floats(const struct csrconv_tiling *t)
{
    return t->group * t->tile_vectors * t->layout.lanes;
}

static struct csrconv_tile_place place_of(const struct csrconv_tile_task *task, int64_t tile)
{
    const struct csrconv_tiling *t = task->tiling;
    const struct csrconv_shape *shape = task->block.run->shape;
    const float *first = task->inputs + csrconv_tiling_load(t, shape, tile) * t->layout.element;
    return (struct csrconv_tile_place){
        .first = first,
        .second = first + csrconv_tiling_second(t) * t->layout.element,
        .second_sums = csrconv_tiling_second_place(t, shape) * t->layout.element,
        .count = t->layout.in_place ? t->layout.positions : t->layout.lanes,
    };
}

/* Lines of inputs to bring into the caches, some with each segment. */
struct fetch {
    const float *stretch; /* of a channel */
    int64_t channel_stride;
    int64_t lines; /* of a stretch */
    int64_t line;  /* the next one of it */
    int64_t left;  /* of all channels */
};

/*
 * What the next tile reads beside what this one did. An image that is read in place comes from
 * memory, in stretches of as many places at once as there are channels: too short, and too many,
 * for the processor to foresee.
 */
static struct fetch inputs_ahead(const struct csrconv_tile_task *task, int64_t tile)
{
    const struct csrconv_tiling *t = task->tiling;
    const struct csrconv_shape *shape = task->block.run->shape;
    const csrconv_geometry *g = &shape->g;
    struct fetch fetch = { .channel_stride = t->layout.channel_stride };
    if (!task->is_from_memory || !t->layout.in_place || tile + 1 == t->tiles)
        return fetch;
    fetch.stretch = task->inputs + csrconv_tiling_load(t, shape, tile + 1) +
                    csrconv_tile_offset(&t->layout, shape, 0, g->kernel_h - 1, g->kernel_w - 1);
    fetch.lines = (csrconv_tiling_positions(t) + CSRCONV_LINE_FLOATS - 1) / CSRCONV_LINE_FLOATS;
    fetch.left = fetch.lines * g->channels;
    return fetch;
}

/* The share of one of so many segments to come. */
static void fetch_share(struct fetch *f, int64_t segments)
{
    const int64_t rest = f->left - f->left / segments - (f->left % segments > 0);
    for (; f->left > rest; f->left--) {
        __builtin_prefetch(f->stretch + f->line * CSRCONV_LINE_FLOATS, 0, 2);
        if (++f->line == f->lines) {
            f->line = 0;
            f->stretch += f->channel_stride;
        }
    }
}

/* The sums of all filters of the chunk over one tile: block by block of channels. */
static void sum_tile(const struct csrconv_tile_task *task, int64_t tile)
{
    const struct csrconv_tiling *t = task->tiling;
    const struct csrconv_segments *s = task->segments;
    const struct csrconv_run *run = task->block.run;
    const csrconv_tile_kernel kernel = task->isa->kernels[t->tile_vectors - 1];
    const float *bias = run->epilogue->bias;
    const struct csrconv_tile_place place = place_of(task, tile);
    const int64_t end = s->block_begin[(task->chunk + 1) * s->blocks];
    const int64_t first_filter = s->chunk_begin[task->chunk], floats = filter_floats(t);
    struct fetch ahead = inputs_ahead(task, tile);
    float *const sums =
        task->sums + csrconv_tiling_place(t, run->shape, task->begin, tile) * t->layout.element;
    for (int64_t i = s->block_begin[task->chunk * s->blocks]; i < end; i++) {
        const struct csrconv_segment *segment = &s->segments[i];
        const struct csrconv_segment *next = i + 1 < end ? segment + 1 : segment;
        float *to = sums + (segment->filter - first_filter) * floats;
        if (ahead.left)
            fetch_share(&ahead, end - i);
        kernel(&place, s->nonzeros + segment[0].begin, s->nonzeros + segment[1].begin,
               segment->is_first ? NULL : to, bias ? bias[segment->filter] : 0.0F, to,
               sums + (next->filter - first_filter) * floats);
    }
}

/*
 * Brings the output lines of filter m into the caches: they are written in short stretches of many
 * images, and each would wait for memory by itself.
 */
static void fetch_outputs(const struct csrconv_tile_task *task, const struct csrconv_stored *stored,
                          int64_t m)
{
    const struct csrconv_run *run = task->block.run;
    const struct csrconv_stretch_of_row *last = &stored->stretches[stored->count - 1];
    for (int64_t i = 0; i < task->block.count; i++) {
        const float *plane = run->out + (task->block.first + i) * run->shape->g.out_batch_stride +
                             m * run->shape->out_plane;
        const char *line = (const char *)(plane + stored->stretches[0].output);
        const char *end = (const char *)(plane + last->output + last->length);
        for (; line < end; line += CSRCONV_LINE_BYTES)
            __builtin_prefetch(line);
        __builtin_prefetch(end - 1);
    }
}

static void store_tiles(const struct csrconv_tile_task *task, struct csrconv_stored *stored)
{
    const struct csrconv_tiling *t = task->tiling;
    const int64_t *chunk_begin = &task->segments->chunk_begin[task->chunk];
    stored->vectors = csrconv_tiling_places(t, task->block.run->shape, task->begin, task->end) *
                      t->layout.element / t->layout.lanes;
    for (int64_t m = chunk_begin[0]; m < chunk_begin[1]; m++) {
        if (!task->is_streamed && m + FILTERS_AHEAD < chunk_begin[1])
            fetch_outputs(task, stored, m + FILTERS_AHEAD);
        csrconv_store_sums(&t->layout, task->isa, &task->block, stored, m);
        stored->sums += filter_floats(t);
    }
    if (task->is_streamed)
        task->isa->settle();
}

void csrconv_tile_task_run(const struct csrconv_tile_task *task)
{
    const struct csrconv_tile_isa *isa = task->isa;
    struct csrconv_stored stored = {
        .finish = task->is_streamed ? isa->finish_streamed : isa->finish,
        .stretches = task->stretches,
        .sums = task->sums,
        .spare = task->spare,
    };
    stored.count = csrconv_tiling_find_stretches(task->tiling, task->block.run->shape, task->begin,
                                                 task->end, task->stretches);
    if (!stored.count) /* the tiles lie between the outputs of one row and those of the next */
        return;
    for (int64_t tile = task->begin; tile < task->end; tile++)
        sum_tile(task, tile);
    store_tiles(task, &stored);
}
