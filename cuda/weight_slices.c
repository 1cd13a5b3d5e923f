#include "weight_slices.h"

enum { MOST_FILTERS = CSRCONV_WEIGHT_TILE_THREADS / 32 * CSRCONV_WEIGHT_TILE_SUMS };

/* A walk over the slices in their order: the rows of one filter block, each up to its cursor. */
struct walk {
    const struct csrconv_weights *weights;
    const struct csrconv_weight_tiles *tiles;
    int64_t first, count; /* filters of the block */
    int64_t cursors[MOST_FILTERS];
};

static void enter_block(const struct csrconv_shape *shape, int64_t block, struct walk *walk)
{
    const int64_t group_blocks = walk->tiles->filter_blocks / shape->g.groups;
    const int64_t begin = block % group_blocks * walk->tiles->filters;
    const int64_t left = shape->group_filters - begin;
    walk->first = block / group_blocks * shape->group_filters + begin;
    walk->count = left < walk->tiles->filters ? left : walk->tiles->filters;
    for (int64_t f = 0; f < walk->count; f++)
        walk->cursors[f] = walk->weights->indptr[walk->first + f];
}

/* Moves the cursor of a filter to the end of a stage; returns where it stood. */
static int64_t pass_stage(struct walk *walk, int64_t f, int64_t stage)
{
    const struct csrconv_weights *w = walk->weights;
    const int64_t size = walk->tiles->channels * w->kernel_h * w->kernel_w;
    const int64_t begin = walk->cursors[f], end = w->indptr[walk->first + f + 1];
    int64_t i = begin;
    while (i < end && w->indices[i] < (stage + 1) * size)
        i++;
    walk->cursors[f] = i;
    return begin;
}

/* The nonzeros of the fullest slice. */
static int64_t most_pairs(const struct csrconv_problem *problem,
                          const struct csrconv_weight_tiles *tiles)
{
    struct walk walk = { .weights = problem->weights, .tiles = tiles };
    int64_t most = 0;
    for (int64_t block = 0; block < tiles->filter_blocks; block++) {
        enter_block(&problem->shape, block, &walk);
        for (int64_t stage = 0; stage < tiles->stages; stage++) {
            int64_t pairs = 0;
            for (int64_t f = 0; f < walk.count; f++) {
                const int64_t begin = pass_stage(&walk, f, stage);
                pairs += walk.cursors[f] - begin;
            }
            most = pairs > most ? pairs : most;
        }
    }
    return most;
}

/* Fewer channels until the fullest slice fits; one channel does, by how the cut was chosen. */
static void settle_channels(const struct csrconv_problem *problem,
                            struct csrconv_weight_tiles *tiles)
{
    tiles->pairs = most_pairs(problem, tiles);
    while (tiles->channels > 1 && csrconv_weight_tiles_shared_bytes(tiles) > tiles->shared_budget) {
        csrconv_weight_tiles_set_channels(&problem->shape, tiles->channels / 2, tiles);
        tiles->pairs = most_pairs(problem, tiles);
    }
}

/* A stage's inputs are an image of its channels, borders included: offsets are stretched columns.
 */
static void copy_pairs(const struct csrconv_shape *staged, const struct walk *walk, int64_t stage,
                       int64_t begin, int64_t end, struct csrconv_weight_pair *pairs)
{
    const struct csrconv_weights *w = walk->weights;
    const int64_t first = stage * walk->tiles->channels * w->kernel_h * w->kernel_w;
    for (int64_t i = begin; i < end; i++) {
        pairs->offset = (int32_t)csrconv_stretch_column(staged, (int32_t)(w->indices[i] - first));
        pairs->value = w->values[i];
        pairs++;
    }
}

static void fill_slices(const struct csrconv_problem *problem,
                        const struct csrconv_weight_tiles *tiles,
                        struct csrconv_weight_slices *slices)
{
    struct walk walk = { .weights = problem->weights, .tiles = tiles };
    struct csrconv_shape staged = problem->shape;
    int64_t *start = slices->starts, at = 0;
    staged.padded_h = tiles->stage_h;
    staged.padded_w = tiles->stage_w;
    for (int64_t block = 0; block < tiles->filter_blocks; block++) {
        enter_block(&problem->shape, block, &walk);
        for (int64_t stage = 0; stage < tiles->stages; stage++)
            for (int64_t f = 0; f < tiles->filters; f++) {
                *start++ = at;
                if (f < walk.count) {
                    const int64_t begin = pass_stage(&walk, f, stage);
                    copy_pairs(&staged, &walk, stage, begin, walk.cursors[f], slices->pairs + at);
                    at += walk.cursors[f] - begin;
                }
            }
    }
    *start = at;
}

int64_t csrconv_weight_slices_starts(const struct csrconv_weight_tiles *tiles)
{
    return tiles->filter_blocks * tiles->stages * tiles->filters + 1;
}

csrconv_status csrconv_weight_slices_make(const struct csrconv_problem *problem,
                                          struct csrconv_memory *memory,
                                          struct csrconv_weight_tiles *tiles,
                                          struct csrconv_weight_slices *slices)
{
    csrconv_status status;
    slices->pairs = NULL;
    settle_channels(problem, tiles);
    status = csrconv_allocate(memory, csrconv_weight_slices_starts(tiles), sizeof *slices->starts,
                              (void **)&slices->starts);
    if (status)
        return status;
    status = csrconv_allocate(memory, csrconv_nonzeros(problem->weights), sizeof *slices->pairs,
                              (void **)&slices->pairs);
    if (!status)
        fill_slices(problem, tiles, slices);
    return status;
}

void csrconv_weight_slices_free(const struct csrconv_memory *memory,
                                struct csrconv_weight_slices *slices)
{
    csrconv_release(memory, slices->pairs);
    csrconv_release(memory, slices->starts);
}
