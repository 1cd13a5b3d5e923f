#include "weight_tiles.h"

#include <inttypes.h>

/* One problem on one GPU, and the best cut so far. */
struct search {
    const struct csrconv_shape *shape;
    const struct csrconv_weight_tile_limits *limits;
    double row_nonzeros; /* mean of a filter */
    struct csrconv_weight_tiles best;
    bool is_found;
};

static int64_t lesser(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t blocks_of(int64_t amount, int64_t size)
{
    return (amount - 1) / size + 1;
}

int64_t csrconv_weight_tiles_shared_bytes(const struct csrconv_weight_tiles *t)
{
    return t->pairs * (int64_t)sizeof(struct csrconv_weight_pair) +
           (t->filters + 1) * (int64_t)sizeof(int32_t) +
           t->channels * t->stage_h * t->stage_w * (int64_t)sizeof(float);
}

int64_t csrconv_weight_tiles_blocks(const struct csrconv_weight_tiles *t, int64_t n)
{
    return n * t->filter_blocks * t->row_tiles * t->column_tiles;
}

void csrconv_weight_tiles_set_channels(const struct csrconv_shape *shape, int64_t most,
                                       struct csrconv_weight_tiles *t)
{
    t->stages = blocks_of(shape->group_channels, most);
    t->channels = blocks_of(shape->group_channels, t->stages);
}

/* Everything that follows from the threads' mapping and the tile. */
static void fill_sizes(const struct csrconv_shape *shape, struct csrconv_weight_tiles *t)
{
    const csrconv_geometry *g = &shape->g;
    t->filters = CSRCONV_WEIGHT_TILE_THREADS / t->lanes * t->thread_filters;
    t->filter_blocks = g->groups * blocks_of(shape->group_filters, t->filters);
    t->row_tiles = blocks_of(shape->out_h, t->tile_h);
    t->column_tiles = blocks_of(shape->out_w, t->tile_w);
    t->stage_h = (t->tile_h - 1) * g->stride_h + (g->kernel_h - 1) * g->dilation_h + 1;
    t->stage_w = (t->tile_w - 1) * g->stride_w + (g->kernel_w - 1) * g->dilation_w + 1;
}

/*
 * Whether a stage of one channel fits, whatever the weights are; sets the budget: what every block
 * can have if that is enough, so that several blocks share a multiprocessor.
 */
static bool fill_budget(const struct csrconv_shape *shape,
                        const struct csrconv_weight_tile_limits *limits,
                        struct csrconv_weight_tiles *t)
{
    int64_t bytes;
    if (shape->g.kernel_h * shape->g.kernel_w > limits->block_shared ||
        t->stage_h * t->stage_w > limits->block_shared)
        return false;
    t->channels = 1;
    t->pairs = t->filters * shape->g.kernel_h * shape->g.kernel_w;
    bytes = csrconv_weight_tiles_shared_bytes(t);
    t->shared_budget = bytes <= CSRCONV_PLAIN_SHARED
                           ? lesser(CSRCONV_PLAIN_SHARED, limits->block_shared)
                           : limits->block_shared;
    return bytes <= t->shared_budget;
}

/* As many channels as the budget holds if nonzeros were spread evenly, with some room to spare. */
static void fill_channels(const struct search *s, struct csrconv_weight_tiles *t)
{
    const double spare = 1.25;
    const double channel_pairs =
        spare * t->filters * s->row_nonzeros / (double)s->shape->group_channels;
    const double channel_bytes = (double)(t->stage_h * t->stage_w) * sizeof(float) +
                                 channel_pairs * sizeof(struct csrconv_weight_pair);
    const double room =
        (double)t->shared_budget - (double)(t->filters + 1) * (double)sizeof(int32_t);
    const double channels = room / channel_bytes;
    const int64_t all = s->shape->group_channels;
    csrconv_weight_tiles_set_channels(s->shape,
                                      channels < 1.0           ? 1
                                      : channels > (double)all ? all
                                                               : (int64_t)channels,
                                      t);
    t->pairs = (int64_t)(channel_pairs * (double)t->channels);
}

/* Blocks of a multiprocessor at a time; its shared memory is about what one block can have. */
static int64_t resident_blocks(const struct csrconv_weight_tile_limits *limits,
                               const struct csrconv_weight_tiles *t)
{
    const int64_t most = 2048 / CSRCONV_WEIGHT_TILE_THREADS;
    const int64_t fitting = limits->block_shared / csrconv_weight_tiles_shared_bytes(t);
    return fitting < 1 ? 1 : lesser(fitting, most);
}

/*
 * Clocks of the batch. The load pipe of a multiprocessor serves one warp a clock: a nonzero takes
 * one slot for itself and one for each pixel of the thread, a staged float some for 32. A block
 * that is alone cannot fill the pipe: its warps wait for each nonzero, and for the first input of a
 * stage. The shorter of the two hides behind the longer, but for a part.
 */
static double clocks_of(const struct search *s, const struct csrconv_weight_tiles *t)
{
    const double warps = CSRCONV_WEIGHT_TILE_THREADS / 32, stage_slots = 4.0 / 32.0;
    const double nonzero_latency = 30.0, stage_latency = 1500.0, exposed = 0.1;
    const double rounds =
        (double)blocks_of(csrconv_weight_tiles_blocks(t, s->shape->g.batch), s->limits->processors);
    const double resident = (double)resident_blocks(s->limits, t);
    const double staged = (double)(t->stage_h * t->stage_w * s->shape->group_channels) +
                          2.0 * t->filters * s->row_nonzeros;
    const double thread_nonzeros = t->thread_filters * s->row_nonzeros;
    const double busy = warps * thread_nonzeros * (t->thread_pixels + 1) + staged * stage_slots;
    const double waiting = thread_nonzeros * nonzero_latency + (double)t->stages * stage_latency;
    const double pipe = rounds * busy, latency = rounds / resident * waiting;
    return pipe > latency ? pipe + exposed * latency : latency + exposed * pipe;
}

static void consider(struct search *s, struct csrconv_weight_tiles *t)
{
    fill_sizes(s->shape, t);
    if (!fill_budget(s->shape, s->limits, t))
        return;
    fill_channels(s, t);
    t->clocks = clocks_of(s, t);
    if (s->is_found && s->best.clocks <= t->clocks)
        return;
    s->best = *t;
    s->is_found = true;
}

/* Tiles of that many columns, as high as there are pixels for. */
static void consider_width(struct search *s, struct csrconv_weight_tiles t, int64_t width)
{
    t.tile_w = (int)width;
    t.tile_h = (int)lesser(t.lanes * t.thread_pixels / width, s->shape->out_h);
    consider(s, &t);
}

static void consider_widths(struct search *s, struct csrconv_weight_tiles t)
{
    const int64_t widest = lesser(t.lanes * t.thread_pixels, s->shape->out_w);
    for (int64_t width = 1; width < widest; width *= 2)
        consider_width(s, t, width);
    consider_width(s, t, widest);
}

static void consider_all(struct search *s)
{
    struct csrconv_weight_tiles t = { 0 };
    for (t.lanes = CSRCONV_WEIGHT_TILE_THREADS; t.lanes >= 32; t.lanes /= 2)
        for (t.thread_pixels = CSRCONV_WEIGHT_TILE_PIXELS; t.thread_pixels; t.thread_pixels /= 2)
            for (t.thread_filters = CSRCONV_WEIGHT_TILE_SUMS; t.thread_filters;
                 t.thread_filters /= 2)
                consider_widths(s, t);
}

/* The most nonzeros that one filter has in one channel. */
static int64_t most_channel_nonzeros(const struct csrconv_weights *w)
{
    const int64_t size = w->kernel_h * w->kernel_w;
    int64_t most = 0;
    for (int64_t m = 0; m < w->filters; m++)
        for (int64_t i = w->indptr[m], first = i; i < w->indptr[m + 1]; i++) {
            if (w->indices[i] / size != w->indices[first] / size)
                first = i;
            most = i - first + 1 > most ? i - first + 1 : most;
        }
    return most;
}

/* One pixel, one filter and one channel: what is left where no tile fits. */
static csrconv_status take_the_smallest(const struct csrconv_problem *problem, struct search *s)
{
    struct csrconv_weight_tiles *t = &s->best;
    int64_t bytes;
    *t = (struct csrconv_weight_tiles){ .lanes = CSRCONV_WEIGHT_TILE_THREADS,
                                        .thread_pixels = 1,
                                        .thread_filters = 1,
                                        .tile_h = 1,
                                        .tile_w = 1,
                                        .channels = 1 };
    fill_sizes(s->shape, t);
    t->pairs = most_channel_nonzeros(problem->weights);
    t->shared_budget = s->limits->block_shared;
    bytes = csrconv_weight_tiles_shared_bytes(t);
    if (bytes > s->limits->block_shared)
        return csrconv_fail(CSRCONV_NOT_SUPPORTED,
                            "one channel under one pixel, %" PRId64 " x %" PRId64
                            " inputs and %" PRId64 " nonzeros, takes %" PRId64
                            " bytes of shared memory; a block can have %" PRId64,
                            t->stage_h, t->stage_w, t->pairs, bytes, s->limits->block_shared);
    csrconv_weight_tiles_set_channels(s->shape, 1, t);
    t->clocks = clocks_of(s, t);
    return CSRCONV_OK;
}

csrconv_status csrconv_weight_tiles_choose(const struct csrconv_problem *problem,
                                           const struct csrconv_weight_tile_limits *limits,
                                           struct csrconv_weight_tiles *tiles)
{
    struct search s = { .shape = &problem->shape, .limits = limits };
    csrconv_status status = CSRCONV_OK;
    s.row_nonzeros = (double)csrconv_nonzeros(problem->weights) / (double)problem->shape.g.filters;
    consider_all(&s);
    if (!s.is_found)
        status = take_the_smallest(problem, &s);
    *tiles = s.best;
    return status;
}
