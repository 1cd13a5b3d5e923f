#include "chunk_lists.h"

#include "integers.h"
#include "split_deal.h"

#include <string.h>

enum { QUAD_WORDS = 4 };

_Static_assert(CSRCONV_MOST_PLACES < 1 << CSRCONV_FIRST_BITS &&
                   CSRCONV_MOST_PLACES <= 1 << CSRCONV_PLACE_BITS,
               "segments and places fit into their words");

struct csrconv_list_words csrconv_find_list_words(const struct csrconv_split_tiling *tiling)
{
    const int64_t segment = tiling->block.filter_ways + 1, places = tiling->places;
    return (struct csrconv_list_words){ segment, segment + places, segment + 2 * places,
                                        segment + 3 * places };
}

int64_t csrconv_chunk_list_head(const struct csrconv_split_tiling *tiling)
{
    return (csrconv_find_list_words(tiling).count - 1) / QUAD_WORDS + 1;
}

/* What lists are made from. */
struct maker {
    const struct csrconv_problem *problem;
    const struct csrconv_split_tiling *split;
    struct csrconv_quad_writer writer;
    int64_t *ends;         /* of the filters of all groups, as of csrconv_find_ends */
    int64_t *place_filter; /* of the tiles of all groups: number in its group, or -1 */
    struct csrconv_chunk_segment *segments; /* of one list's places */
};

/* The segments of the i-th list, by their places. */
static void find_segments(const struct maker *m, int64_t list)
{
    const struct csrconv_block_tiling *t = &m->split->block;
    const int64_t chunk = list % t->stages, tile = list / t->stages, places = m->split->places;
    const int64_t first_filter = tile / t->filter_tiles * m->problem->shape.group_filters;
    for (int64_t place = 0; place < places; place++) {
        const int64_t filter = m->place_filter[tile * places + place];
        m->segments[place] = (struct csrconv_chunk_segment){ .place = place };
        if (filter < 0)
            continue;
        const int64_t *end = m->ends + (first_filter + filter) * (t->stages + 1) + chunk;
        m->segments[place].from = end[0];
        m->segments[place].to = end[1];
    }
}

static int64_t quads_of(const struct csrconv_chunk_segment *segment)
{
    return csrconv_quads_of(segment->to - segment->from);
}

static int64_t list_quads(const struct maker *m, int64_t list)
{
    int64_t quads = csrconv_chunk_list_head(m->split) + m->split->block.filter_ways;
    find_segments(m, list);
    for (int64_t i = 0; i < m->split->places; i++)
        quads += quads_of(&m->segments[i]);
    return quads;
}

/* Where words of a list go, and quads. */
struct list_writer {
    struct csrconv_quad *list, *quad;
    uint32_t *segment; /* the next one's word */
    int64_t segments;  /* written */
};

static uint32_t begin_of(const struct list_writer *to)
{
    return (uint32_t)((to->quad - to->list) << CSRCONV_FIRST_BITS | to->segments);
}

static void write_warp(const struct maker *m, int64_t chunk, int64_t way, struct list_writer *to)
{
    for (int64_t i = 0; i < m->split->places; i++) {
        const struct csrconv_chunk_segment *segment = &m->segments[i];
        if (segment->way != way)
            continue;
        *to->segment++ = (uint32_t)(quads_of(segment) << CSRCONV_PLACE_BITS | segment->place);
        to->quad = csrconv_write_quads(&m->writer, segment->from, segment->to,
                                       m->split->first_channel[chunk], to->quad);
        to->segments++;
    }
    *to->quad++ = csrconv_quad_of_nothing(&m->split->block);
}

/* Filters and biases of the places. */
static void write_places(const struct maker *m, int64_t tile, uint32_t *list)
{
    const struct csrconv_list_words words = csrconv_find_list_words(m->split);
    const int64_t places = m->split->places, of_group = m->split->block.filter_tiles;
    const int64_t first_filter = tile / of_group * m->problem->shape.group_filters;
    const float *bias = m->problem->epilogue.bias;
    for (int64_t i = 0; i < places; i++) {
        const int64_t filter = m->place_filter[tile * places + i];
        list[words.filter + i] = (uint32_t)(filter < 0 ? -1 : first_filter + filter);
        if (filter >= 0 && bias)
            memcpy(list + words.bias + i, bias + first_filter + filter, sizeof *list);
    }
}

static void write_list(const struct maker *m, int64_t list, struct csrconv_quad *quads)
{
    const int64_t ways = m->split->block.filter_ways, chunks = m->split->block.stages;
    uint32_t *words = &quads->word[0];
    struct list_writer to = { quads, quads + csrconv_chunk_list_head(m->split),
                              words + csrconv_find_list_words(m->split).segment, 0 };
    find_segments(m, list);
    csrconv_deal_segments(m->segments, m->split->places, ways);
    for (int64_t way = 0; way < ways; way++) {
        words[way] = begin_of(&to);
        write_warp(m, list % chunks, way, &to);
    }
    words[ways] = begin_of(&to);
    write_places(m, list / chunks, words);
}

static csrconv_status deal_groups(struct maker *m, struct csrconv_memory *memory)
{
    const struct csrconv_shape *shape = &m->problem->shape;
    const struct csrconv_block_tiling *t = &m->split->block;
    const int64_t filters = shape->group_filters, ends = filters * (t->stages + 1);
    const int64_t places = t->filter_tiles * m->split->places;
    csrconv_status status = CSRCONV_OK;
    for (int64_t group = 0; group < shape->g.groups && !status; group++) {
        csrconv_find_ends(m->problem, m->split, group, m->ends + group * ends);
        status = csrconv_deal_filters(m->problem, m->split, group, m->ends + group * ends, memory,
                                      m->place_filter + group * places);
    }
    return status;
}

static csrconv_status make_maker(struct maker *m, struct csrconv_memory *memory)
{
    const struct csrconv_block_tiling *t = &m->split->block;
    const int64_t places = m->split->places;
    const int64_t ends = m->problem->shape.g.filters * (t->stages + 1);
    const int64_t all_places = m->problem->shape.g.groups * t->filter_tiles * places;
    csrconv_status status;
    if ((status = csrconv_allocate(memory, ends, sizeof *m->ends, (void **)&m->ends)) ||
        (status = csrconv_allocate(memory, all_places, sizeof *m->place_filter,
                                   (void **)&m->place_filter)) ||
        (status = csrconv_allocate(memory, places, sizeof *m->segments, (void **)&m->segments)) ||
        (status = csrconv_quad_writer_init(m->problem, t, memory, &m->writer)))
        return status;
    return deal_groups(m, memory);
}

static void free_maker(struct maker *m, const struct csrconv_memory *memory)
{
    csrconv_quad_writer_free(memory, &m->writer);
    csrconv_release(memory, m->segments);
    csrconv_release(memory, m->place_filter);
    csrconv_release(memory, m->ends);
}

static csrconv_status make(const struct maker *m, struct csrconv_memory *memory,
                           struct csrconv_chunk_lists *lists)
{
    csrconv_status status;
    for (int64_t i = 0; i < lists->count; i++)
        lists->pitch = csrconv_larger(lists->pitch, list_quads(m, i));
    const int64_t quads = lists->count * lists->pitch;
    status = csrconv_allocate(memory, quads, sizeof *lists->quads, (void **)&lists->quads);
    if (status)
        return status;
    memset(lists->quads, 0, (size_t)quads * sizeof *lists->quads);
    for (int64_t i = 0; i < lists->count; i++)
        write_list(m, i, lists->quads + i * lists->pitch);
    return CSRCONV_OK;
}

csrconv_status csrconv_chunk_lists_make(const struct csrconv_problem *problem,
                                        const struct csrconv_split_tiling *tiling,
                                        struct csrconv_memory *memory,
                                        struct csrconv_chunk_lists *lists)
{
    const struct csrconv_block_tiling *t = &tiling->block;
    struct maker m = { .problem = problem, .split = tiling };
    csrconv_status status = make_maker(&m, memory);
    *lists = (struct csrconv_chunk_lists){ .count = problem->shape.g.groups * t->filter_tiles *
                                                    t->stages };
    if (!status)
        status = make(&m, memory, lists);
    free_maker(&m, memory);
    return status;
}

void csrconv_chunk_lists_free(const struct csrconv_memory *memory,
                              struct csrconv_chunk_lists *lists)
{
    csrconv_release(memory, lists->quads);
    *lists = (struct csrconv_chunk_lists){ 0 };
}
