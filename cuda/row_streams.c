#include "row_streams.h"

#include "csr.h"
#include "row_order.h"

#include <string.h>

static int64_t warps_of_group(const struct csrconv_block_tiling *t)
{
    return t->filter_tiles * t->filter_ways;
}

/*
 * Longest first, a filter to each warp in turn, every other round backwards: a warp that got a long
 * one gets a short one next. In turn means a warp of each tile, then another of each, backwards
 * again: tiles have equal work, too, where a warp has but one filter.
 */
static void deal(const struct csrconv_row *rows, int64_t count,
                 const struct csrconv_block_tiling *t, int64_t *filter)
{
    const int64_t per_warp = csrconv_block_kernels[t->kernel].filters;
    const int64_t warps = warps_of_group(t);
    for (int64_t i = 0; i < count; i++) {
        const int64_t round = i / warps;
        const int64_t at = round % 2 ? warps - 1 - i % warps : i % warps;
        const int64_t way = at / t->filter_tiles, tile = at % t->filter_tiles;
        const int64_t warp = (way % 2 ? t->filter_tiles - 1 - tile : tile) * t->filter_ways + way;
        filter[warp * per_warp + round] = rows[i].filter;
    }
}

/* As they come: the ablation. */
static void keep_order(const struct csrconv_row *rows, int64_t count, int64_t *filter)
{
    for (int64_t i = 0; i < count; i++)
        filter[i] = rows[i].filter;
}

static csrconv_status deal_groups(const struct csrconv_problem *problem,
                                  const struct csrconv_block_tiling *tiling,
                                  struct csrconv_memory *memory,
                                  struct csrconv_row_streams *streams)
{
    const int64_t per_warp = csrconv_block_kernels[tiling->kernel].filters;
    const int64_t count = problem->shape.group_filters, warps = warps_of_group(tiling);
    struct csrconv_row *rows;
    const csrconv_status status = csrconv_allocate(memory, count, sizeof *rows, (void **)&rows);
    if (status)
        return status;
    for (int64_t i = 0; i < streams->warps * per_warp; i++)
        streams->filter[i] = -1;
    for (int64_t group = 0; group < problem->shape.g.groups; group++) {
        int64_t *filter = streams->filter + group * warps * per_warp;
        csrconv_order_rows(problem, group, rows);
        if (problem->without.row_order)
            keep_order(rows, count, filter);
        else
            deal(rows, count, tiling, filter);
    }
    csrconv_release(memory, rows);
    return CSRCONV_OK;
}

/* Where the nonzeros of a filter end that belong to stages before `stage` + 1. */
static int64_t stage_end(const struct csrconv_problem *problem,
                         const struct csrconv_block_tiling *tiling, int64_t filter, int64_t stage,
                         int64_t from)
{
    const csrconv_geometry *g = &problem->shape.g;
    const int64_t limit = (stage + 1) * tiling->stage_channels * g->kernel_h * g->kernel_w;
    const int64_t end = problem->weights->indptr[filter + 1];
    while (from < end && problem->weights->indices[from] < limit)
        from++;
    return from;
}

/* The filters of one warp, as far as their nonzeros are dealt with. */
struct cursor {
    const int64_t *filter;
    int64_t at[CSRCONV_MOST_WARP_FILTERS], end[CSRCONV_MOST_WARP_FILTERS];
};

static void begin_warp(const struct csrconv_problem *problem, const int64_t *filter, int filters,
                       struct cursor *cursor)
{
    cursor->filter = filter;
    for (int i = 0; i < filters; i++)
        cursor->end[i] = filter[i] < 0 ? 0 : problem->weights->indptr[filter[i]];
}

static void next_stage(const struct csrconv_problem *problem,
                       const struct csrconv_block_tiling *tiling, int64_t stage, int filters,
                       struct cursor *cursor)
{
    for (int i = 0; i < filters; i++) {
        cursor->at[i] = cursor->end[i];
        if (cursor->filter[i] >= 0)
            cursor->end[i] = stage_end(problem, tiling, cursor->filter[i], stage, cursor->at[i]);
    }
}

/* How many quads the streams have, into start. */
static void count_quads(const struct csrconv_problem *problem,
                        const struct csrconv_block_tiling *tiling,
                        struct csrconv_row_streams *streams)
{
    const int filters = csrconv_block_kernels[tiling->kernel].filters;
    struct cursor cursor = { 0 };
    streams->start[0] = 0;
    for (int64_t warp = 0; warp < streams->warps; warp++) {
        int64_t quads = 2 * tiling->stages;
        begin_warp(problem, streams->filter + warp * filters, filters, &cursor);
        for (int64_t stage = 0; stage < tiling->stages; stage++) {
            next_stage(problem, tiling, stage, filters, &cursor);
            for (int i = 0; i < filters; i++)
                quads += csrconv_quads_of(cursor.end[i] - cursor.at[i]);
        }
        streams->start[warp + 1] = streams->start[warp] + quads;
    }
}

static struct csrconv_quad *write_stage(const struct csrconv_quad_writer *writer,
                                        const struct cursor *cursor, int64_t stage, int filters,
                                        struct csrconv_quad *quad)
{
    struct csrconv_quad *counts = quad++;
    for (int i = 0; i < filters; i++) {
        const int64_t from = cursor->at[i], to = cursor->end[i];
        counts->word[i / 2] |= (uint32_t)csrconv_quads_of(to - from) << i % 2 * 16;
        quad = csrconv_write_quads(writer, from, to, stage * writer->tiling->stage_channels, quad);
    }
    *quad++ = csrconv_quad_of_nothing(writer->tiling);
    return quad;
}

static void write_streams(const struct csrconv_quad_writer *writer,
                          struct csrconv_row_streams *streams)
{
    const struct csrconv_problem *problem = writer->problem;
    const struct csrconv_block_tiling *tiling = writer->tiling;
    const int filters = csrconv_block_kernels[tiling->kernel].filters;
    struct csrconv_quad *quad = streams->quads;
    struct cursor cursor = { 0 };
    for (int64_t warp = 0; warp < streams->warps; warp++) {
        begin_warp(problem, streams->filter + warp * filters, filters, &cursor);
        for (int64_t stage = 0; stage < tiling->stages; stage++) {
            next_stage(problem, tiling, stage, filters, &cursor);
            quad = write_stage(writer, &cursor, stage, filters, quad);
        }
    }
}

csrconv_status csrconv_row_streams_make(const struct csrconv_problem *problem,
                                        const struct csrconv_block_tiling *tiling,
                                        struct csrconv_memory *memory,
                                        struct csrconv_row_streams *streams)
{
    const int64_t filters = csrconv_block_kernels[tiling->kernel].filters;
    struct csrconv_quad_writer writer;
    csrconv_status status;
    int64_t quads;
    memset(streams, 0, sizeof *streams);
    streams->warps = problem->shape.g.groups * warps_of_group(tiling);
    if ((status = csrconv_allocate(memory, streams->warps + 1, sizeof *streams->start,
                                   (void **)&streams->start)) ||
        (status = csrconv_allocate(memory, streams->warps * filters, sizeof *streams->filter,
                                   (void **)&streams->filter)) ||
        (status = deal_groups(problem, tiling, memory, streams)))
        return status;
    count_quads(problem, tiling, streams);
    quads = streams->start[streams->warps] + CSRCONV_QUADS_AHEAD;
    status = csrconv_allocate(memory, quads, sizeof *streams->quads, (void **)&streams->quads);
    if (status)
        return status;
    memset(streams->quads, 0, (size_t)quads * sizeof *streams->quads);
    status = csrconv_quad_writer_init(problem, tiling, memory, &writer);
    if (status)
        return status;
    write_streams(&writer, streams);
    csrconv_quad_writer_free(memory, &writer);
    return CSRCONV_OK;
}

void csrconv_row_streams_free(const struct csrconv_memory *memory,
                              struct csrconv_row_streams *streams)
{
    csrconv_release(memory, streams->start);
    csrconv_release(memory, streams->filter);
    csrconv_release(memory, streams->quads);
    memset(streams, 0, sizeof *streams);
}
