#include "split_deal.h"

#include "quads.h"
#include "row_order.h"

#include <stdlib.h>

enum {
    MOST_WAYS = CSRCONV_SPLIT_THREADS / CSRCONV_LANES,
    MOST_WEIGHED = 256 /* tiles that are looked at for each filter */
};

void csrconv_find_ends(const struct csrconv_problem *problem,
                       const struct csrconv_split_tiling *tiling, int64_t group, int64_t *ends)
{
    const struct csrconv_weights *w = problem->weights;
    const struct csrconv_shape *shape = &problem->shape;
    const int64_t weights = shape->g.kernel_h * shape->g.kernel_w;
    for (int64_t i = 0; i < shape->group_filters; i++) {
        const int64_t filter = group * shape->group_filters + i;
        int64_t at = w->indptr[filter];
        *ends++ = at;
        for (int64_t chunk = 1; chunk <= tiling->block.stages; chunk++) {
            const int64_t limit = tiling->first_channel[chunk] * weights;
            while (at < w->indptr[filter + 1] && w->indices[at] < limit)
                at++;
            *ends++ = at;
        }
    }
}

/* In halves of quads, as is all work here: a filter without nonzeros is begun and ended, too. */
static double work_of(int64_t nonzeros)
{
    return (double)(2 * csrconv_quads_of(nonzeros) + 1);
}

/* The tiles of a group while filters are dealt to them. */
struct tiles {
    int64_t count, chunks, places;
    double *work;    /* of each tile's chunks */
    int64_t *filled; /* places of each tile */
};

/* How much of the filter's work is where the tile has much already. */
static double overlap(const struct tiles *tiles, int64_t tile, const int64_t *ends)
{
    const double *work = tiles->work + tile * tiles->chunks;
    double sum = 0.0;
    for (int64_t chunk = 0; chunk < tiles->chunks; chunk++)
        sum += work[chunk] * work_of(ends[chunk + 1] - ends[chunk]);
    return sum;
}

/* In turn, every other round backwards: where there are many tiles, chance evens them out. */
static int64_t tile_in_turn(const struct tiles *tiles, int64_t i)
{
    const int64_t at = i % tiles->count;
    return i / tiles->count % 2 ? tiles->count - 1 - at : at;
}

static int64_t best_tile(const struct tiles *tiles, const int64_t *ends)
{
    int64_t best = -1;
    double least = 0.0;
    for (int64_t tile = 0; tile < tiles->count; tile++) {
        const double sum = overlap(tiles, tile, ends);
        if (tiles->filled[tile] < tiles->places && (best < 0 || sum < least)) {
            best = tile;
            least = sum;
        }
    }
    return best;
}

static void put(struct tiles *tiles, int64_t tile, int64_t filter, const int64_t *ends,
                int64_t *place_filter)
{
    place_filter[tile * tiles->places + tiles->filled[tile]++] = filter;
    for (int64_t chunk = 0; chunk < tiles->chunks; chunk++)
        tiles->work[tile * tiles->chunks + chunk] += work_of(ends[chunk + 1] - ends[chunk]);
}

static void deal(const struct csrconv_row *rows, int64_t count, int64_t first_filter,
                 const int64_t *ends, struct tiles *tiles, int64_t *place_filter)
{
    for (int64_t i = 0; i < tiles->count * tiles->places; i++)
        place_filter[i] = -1;
    for (int64_t i = 0; i < tiles->count; i++)
        tiles->filled[i] = 0;
    for (int64_t i = 0; i < tiles->count * tiles->chunks; i++)
        tiles->work[i] = 0.0;
    for (int64_t i = 0; i < count; i++) {
        const int64_t filter = rows[i].filter - first_filter;
        const int64_t *own = ends + filter * (tiles->chunks + 1);
        const int64_t tile =
            tiles->count > MOST_WEIGHED ? tile_in_turn(tiles, i) : best_tile(tiles, own);
        put(tiles, tile, filter, own, place_filter);
    }
}

csrconv_status csrconv_deal_filters(const struct csrconv_problem *problem,
                                    const struct csrconv_split_tiling *tiling, int64_t group,
                                    const int64_t *ends, struct csrconv_memory *memory,
                                    int64_t *place_filter)
{
    const struct csrconv_block_tiling *t = &tiling->block;
    const int64_t filters = problem->shape.group_filters;
    struct tiles tiles = { t->filter_tiles, t->stages, tiling->places, NULL, NULL };
    struct csrconv_row *rows = NULL;
    csrconv_status status;
    if (!(status = csrconv_allocate(memory, filters, sizeof *rows, (void **)&rows)) &&
        !(status = csrconv_allocate(memory, tiles.count * tiles.chunks, sizeof *tiles.work,
                                    (void **)&tiles.work)) &&
        !(status = csrconv_allocate(memory, tiles.count, sizeof *tiles.filled,
                                    (void **)&tiles.filled))) {
        csrconv_order_rows(problem, group, rows);
        deal(rows, filters, group * filters, ends, &tiles, place_filter);
    }
    csrconv_release(memory, tiles.filled);
    csrconv_release(memory, tiles.work);
    csrconv_release(memory, rows);
    return status;
}

static int by_length(const void *a, const void *b)
{
    const struct csrconv_chunk_segment *x = a, *y = b;
    if (x->to - x->from != y->to - y->from)
        return x->to - x->from < y->to - y->from ? 1 : -1;
    return (x->place > y->place) - (x->place < y->place);
}

void csrconv_deal_segments(struct csrconv_chunk_segment *segments, int64_t count, int64_t ways)
{
    double work[MOST_WAYS] = { 0.0 };
    qsort(segments, (size_t)count, sizeof *segments, by_length);
    for (int64_t i = 0; i < count; i++) {
        int64_t least = 0;
        for (int64_t way = 1; way < ways; way++)
            if (work[way] < work[least])
                least = way;
        segments[i].way = least;
        work[least] += work_of(segments[i].to - segments[i].from);
    }
}
