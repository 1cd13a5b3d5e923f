#include "chunk_lists.h"

#include <string.h>

enum { QUAD_WORDS = 4 };

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int filters_of(const struct csrconv_block_tiling *tiling)
{
    return csrconv_block_kernels[tiling->kernel].filters;
}

int64_t csrconv_chunk_list_head(const struct csrconv_block_tiling *tiling)
{
    const int64_t words = tiling->filter_ways * (1 + 2 * filters_of(tiling));
    return (words - 1) / QUAD_WORDS + 1;
}

/* A stage of a warp's stream: its counts, the quads that these count, and the one that ends it. */
static int64_t stage_quads(const struct csrconv_quad *counts, int filters)
{
    int64_t quads = 2;
    for (int f = 0; f < filters; f++)
        quads += counts->word[f / 2] >> f % 2 * 16 & 0xffff;
    return quads;
}

/* Where each list ends; the longest is the pitch. */
static int64_t longest(const struct csrconv_block_tiling *tiling,
                       const struct csrconv_row_streams *streams, int64_t *end, int64_t count)
{
    const int filters = filters_of(tiling);
    int64_t most = 0;
    for (int64_t i = 0; i < count; i++)
        end[i] = csrconv_chunk_list_head(tiling);
    for (int64_t warp = 0; warp < streams->warps; warp++) {
        const int64_t tile = warp / tiling->filter_ways;
        const struct csrconv_quad *quad = streams->quads + streams->start[warp];
        for (int64_t chunk = 0; chunk < tiling->stages; chunk++) {
            const int64_t quads = stage_quads(quad, filters);
            end[tile * tiling->stages + chunk] += quads;
            quad += quads;
        }
    }
    for (int64_t i = 0; i < count; i++)
        most = larger(most, end[i]);
    return most;
}

static void write_head(const struct csrconv_problem *problem,
                       const struct csrconv_block_tiling *tiling, const int64_t *filter,
                       struct csrconv_quad *list)
{
    const int64_t count = tiling->filter_ways * filters_of(tiling);
    uint32_t *word = list->word + tiling->filter_ways;
    for (int64_t i = 0; i < count; i++) {
        word[i] = (uint32_t)filter[i];
        if (filter[i] >= 0 && problem->epilogue.bias)
            memcpy(word + count + i, problem->epilogue.bias + filter[i], sizeof *word);
    }
}

/* The quads of all warps of a tile, chunk by chunk; end is where the list of each chunk stands. */
static void write_tile(const struct csrconv_block_tiling *tiling,
                       const struct csrconv_row_streams *streams, int64_t tile,
                       struct csrconv_chunk_lists *lists, int64_t *end)
{
    for (int64_t way = 0; way < tiling->filter_ways; way++) {
        const struct csrconv_quad *quad =
            streams->quads + streams->start[tile * tiling->filter_ways + way];
        for (int64_t chunk = 0; chunk < tiling->stages; chunk++) {
            const int64_t i = tile * tiling->stages + chunk;
            const int64_t quads = stage_quads(quad, filters_of(tiling));
            struct csrconv_quad *list = lists->quads + i * lists->pitch;
            list->word[way] = (uint32_t)end[i];
            memcpy(list + end[i], quad, (size_t)quads * sizeof *quad);
            end[i] += quads;
            quad += quads;
        }
    }
}

static void write_lists(const struct csrconv_problem *problem,
                        const struct csrconv_block_tiling *tiling,
                        const struct csrconv_row_streams *streams, int64_t *end,
                        struct csrconv_chunk_lists *lists)
{
    const int64_t tile_filters = tiling->filter_ways * filters_of(tiling);
    for (int64_t i = 0; i < lists->count; i++) {
        const int64_t *filter = streams->filter + i / tiling->stages * tile_filters;
        end[i] = csrconv_chunk_list_head(tiling);
        write_head(problem, tiling, filter, lists->quads + i * lists->pitch);
    }
    for (int64_t tile = 0; tile < lists->count / tiling->stages; tile++)
        write_tile(tiling, streams, tile, lists, end);
}

static csrconv_status make(const struct csrconv_problem *problem,
                           const struct csrconv_block_tiling *tiling,
                           const struct csrconv_row_streams *streams, struct csrconv_memory *memory,
                           struct csrconv_chunk_lists *lists)
{
    int64_t *end;
    csrconv_status status = csrconv_allocate(memory, lists->count, sizeof *end, (void **)&end);
    if (status)
        return status;
    lists->pitch = longest(tiling, streams, end, lists->count);
    status = csrconv_allocate(memory, lists->count * lists->pitch, sizeof *lists->quads,
                              (void **)&lists->quads);
    if (!status) {
        memset(lists->quads, 0, (size_t)(lists->count * lists->pitch) * sizeof *lists->quads);
        write_lists(problem, tiling, streams, end, lists);
    }
    csrconv_release(memory, end);
    return status;
}

csrconv_status csrconv_chunk_lists_make(const struct csrconv_problem *problem,
                                        const struct csrconv_block_tiling *tiling,
                                        struct csrconv_memory *memory,
                                        struct csrconv_chunk_lists *lists)
{
    struct csrconv_row_streams streams;
    csrconv_status status = csrconv_row_streams_make(problem, tiling, memory, &streams);
    *lists = (struct csrconv_chunk_lists){ .count = problem->shape.g.groups * tiling->filter_tiles *
                                                    tiling->stages };
    if (!status)
        status = make(problem, tiling, &streams, memory, lists);
    csrconv_row_streams_free(memory, &streams);
    return status;
}

void csrconv_chunk_lists_free(const struct csrconv_memory *memory,
                              struct csrconv_chunk_lists *lists)
{
    csrconv_release(memory, lists->quads);
    *lists = (struct csrconv_chunk_lists){ 0 };
}
