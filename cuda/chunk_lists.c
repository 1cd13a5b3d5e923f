#include "chunk_lists.h"

#include "integers.h"

#include <stdlib.h>
#include <string.h>

enum { QUAD_WORDS = 4 };

static int filters_of(const struct csrconv_block_tiling *tiling)
{
    return csrconv_block_kernels[tiling->kernel].filters;
}

static int64_t places_of(const struct csrconv_block_tiling *tiling)
{
    return tiling->filter_ways * filters_of(tiling);
}

int64_t csrconv_chunk_list_head(const struct csrconv_block_tiling *tiling)
{
    const int64_t words = tiling->filter_ways + 3 * places_of(tiling);
    return (words - 1) / QUAD_WORDS + 1;
}

/* What the filter of a place has in a chunk. */
struct segment {
    int64_t place, count; /* of quads */
    const struct csrconv_quad *quads;
};

/* Where streams are read, as far as their chunks are dealt with: one for each warp of a tile. */
struct reader {
    const struct csrconv_block_tiling *tiling;
    const struct csrconv_quad **at;
    struct segment *segments; /* of the places */
};

/* Reads a stage of a stream: its counts, the quads that these count, and the one that ends it. */
static void read_warp(struct reader *reader, int64_t way)
{
    const int filters = filters_of(reader->tiling);
    const struct csrconv_quad *counts = reader->at[way], *quad = counts + 1;
    for (int f = 0; f < filters; f++) {
        const int64_t place = way * filters + f;
        const int64_t count = counts->word[f / 2] >> f % 2 * 16 & 0xffff;
        reader->segments[place] = (struct segment){ place, count, quad };
        quad += count;
    }
    reader->at[way] = quad + 1;
}

static int by_count(const void *a, const void *b)
{
    const struct segment *x = a, *y = b;
    if (x->count != y->count)
        return x->count < y->count ? 1 : -1;
    return (x->place > y->place) - (x->place < y->place);
}

/* The next chunk's segments, by their places. */
static void read_chunk(struct reader *reader)
{
    for (int64_t way = 0; way < reader->tiling->filter_ways; way++)
        read_warp(reader, way);
}

/* Longest first. */
static void order_chunk(struct reader *reader)
{
    qsort(reader->segments, (size_t)places_of(reader->tiling), sizeof *reader->segments, by_count);
}

/* Which of the segments a warp gets as its f-th: one in turn, every other round backwards. */
static int64_t dealt(const struct csrconv_block_tiling *tiling, int64_t way, int f)
{
    const int64_t ways = tiling->filter_ways;
    return f * ways + (f % 2 ? ways - 1 - way : way);
}

/* What a warp of a list reads, from `quad` on; returns what is behind. */
static struct csrconv_quad *write_warp(const struct reader *reader, int64_t way, uint32_t *words,
                                       struct csrconv_quad *quad)
{
    for (int f = 0; f < filters_of(reader->tiling); f++) {
        const struct segment *segment = &reader->segments[dealt(reader->tiling, way, f)];
        words[f] = (uint32_t)(segment->count << CSRCONV_PLACE_BITS | segment->place);
        memcpy(quad, segment->quads, (size_t)segment->count * sizeof *quad);
        quad += segment->count;
    }
    *quad = *(reader->at[way] - 1); /* the one that ends it: all are alike */
    return quad + 1;
}

static void write_list(const struct csrconv_problem *problem, const struct reader *reader,
                       const int64_t *filter, struct csrconv_quad *list)
{
    const int64_t ways = reader->tiling->filter_ways, places = places_of(reader->tiling);
    uint32_t *start = &list->word[0], *word = start + ways;
    struct csrconv_quad *quad = list + csrconv_chunk_list_head(reader->tiling);
    for (int64_t way = 0; way < ways; way++) {
        start[way] = (uint32_t)(quad - list);
        quad = write_warp(reader, way, word + way * filters_of(reader->tiling), quad);
    }
    for (int64_t i = 0; i < places; i++) {
        word[places + i] = (uint32_t)filter[i];
        if (filter[i] >= 0 && problem->epilogue.bias)
            memcpy(word + 2 * places + i, problem->epilogue.bias + filter[i], sizeof *word);
    }
}

static int64_t list_quads(const struct reader *reader)
{
    int64_t quads = csrconv_chunk_list_head(reader->tiling) + reader->tiling->filter_ways;
    for (int64_t i = 0; i < places_of(reader->tiling); i++)
        quads += reader->segments[i].count;
    return quads;
}

static void begin_tile(struct reader *reader, const struct csrconv_row_streams *streams,
                       int64_t tile)
{
    const int64_t ways = reader->tiling->filter_ways;
    for (int64_t way = 0; way < ways; way++)
        reader->at[way] = streams->quads + streams->start[tile * ways + way];
}

static void find_pitch(struct reader *reader, const struct csrconv_row_streams *streams,
                       struct csrconv_chunk_lists *lists)
{
    const int64_t chunks = reader->tiling->stages;
    for (int64_t i = 0; i < lists->count; i++) {
        if (i % chunks == 0)
            begin_tile(reader, streams, i / chunks);
        read_chunk(reader);
        lists->pitch = csrconv_larger(lists->pitch, list_quads(reader));
    }
}

static void write_lists(const struct csrconv_problem *problem, struct reader *reader,
                        const struct csrconv_row_streams *streams,
                        struct csrconv_chunk_lists *lists)
{
    const int64_t chunks = reader->tiling->stages, places = places_of(reader->tiling);
    for (int64_t i = 0; i < lists->count; i++) {
        if (i % chunks == 0)
            begin_tile(reader, streams, i / chunks);
        read_chunk(reader);
        order_chunk(reader);
        write_list(problem, reader, streams->filter + i / chunks * places,
                   lists->quads + i * lists->pitch);
    }
}

static csrconv_status make(const struct csrconv_problem *problem, struct reader *reader,
                           const struct csrconv_row_streams *streams, struct csrconv_memory *memory,
                           struct csrconv_chunk_lists *lists)
{
    csrconv_status status;
    int64_t quads;
    if ((status = csrconv_allocate(memory, reader->tiling->filter_ways, sizeof *reader->at,
                                   (void **)&reader->at)) ||
        (status = csrconv_allocate(memory, places_of(reader->tiling), sizeof *reader->segments,
                                   (void **)&reader->segments)))
        return status;
    find_pitch(reader, streams, lists);
    quads = lists->count * lists->pitch;
    status = csrconv_allocate(memory, quads, sizeof *lists->quads, (void **)&lists->quads);
    if (status)
        return status;
    memset(lists->quads, 0, (size_t)quads * sizeof *lists->quads);
    write_lists(problem, reader, streams, lists);
    return CSRCONV_OK;
}

csrconv_status csrconv_chunk_lists_make(const struct csrconv_problem *problem,
                                        const struct csrconv_block_tiling *tiling,
                                        struct csrconv_memory *memory,
                                        struct csrconv_chunk_lists *lists)
{
    struct reader reader = { .tiling = tiling };
    struct csrconv_row_streams streams;
    csrconv_status status = csrconv_row_streams_make(problem, tiling, memory, &streams);
    *lists = (struct csrconv_chunk_lists){ .count = problem->shape.g.groups * tiling->filter_tiles *
                                                    tiling->stages };
    if (!status)
        status = make(problem, &reader, &streams, memory, lists);
    csrconv_release(memory, reader.segments);
    csrconv_release(memory, reader.at);
    csrconv_row_streams_free(memory, &streams);
    return status;
}

void csrconv_chunk_lists_free(const struct csrconv_memory *memory,
                              struct csrconv_chunk_lists *lists)
{
    csrconv_release(memory, lists->quads);
    *lists = (struct csrconv_chunk_lists){ 0 };
}
