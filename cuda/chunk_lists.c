#include "chunk_lists.h"

#include "integers.h"
#include "split_deal.h"

#include <string.h>

enum { QUAD_WORDS = 4 };

int64_t csrconv_chunk_list_head(const struct csrconv_block_tiling *tiling)
{
    const int64_t words = tiling->filter_ways + 1 + 3 * csrconv_block_filters(tiling);
    return (words - 1) / QUAD_WORDS + 1;
}

/* What lists are made from. */
struct maker {
    const struct csrconv_problem *problem;
    const struct csrconv_split_tiling *split;
    struct csrconv_quad_writer writer;
    int64_t *ends;                    /* of the filters of all groups, as of csrconv_find_ends */
    int64_t *place_filter;            /* of the tiles of all groups: number in its group, or -1 */
    struct csrconv_segment *segments; /* of one list's places */
};

/* The segments of the i-th list, by their places. */
static void find_segments(const struct maker *m, int64_t list)
{
    const struct csrconv_block_tiling *t = &m->split->block;
    const int64_t chunk = list % t->stages, tile = list / t->stages;
    const int64_t places = csrconv_block_filters(t);
    const int64_t first_filter = tile / t->filter_tiles * m->problem->shape.group_filters;
    for (int64_t place = 0; place < places; place++) {
        const int64_t filter = m->place_filter[tile * places + place];
        const int64_t *end = m->ends + (first_filter + filter) * (t->stages + 1) + chunk;
        m->segments[place] = filter < 0 ? (struct csrconv_segment){ .place = place }
                                        : (struct csrconv_segment){ place, end[0], end[1], 0 };
    }
}

static int64_t quads_of(const struct csrconv_segment *segment)
{
    return csrconv_quads_of(segment->to - segment->from);
}

static int64_t list_quads(const struct maker *m, int64_t list)
{
    const struct csrconv_block_tiling *t = &m->split->block;
    int64_t quads = csrconv_chunk_list_head(t) + t->filter_ways;
    find_segments(m, list);
    for (int64_t i = 0; i < csrconv_block_filters(t); i++)
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
    const struct csrconv_block_tiling *t = &m->split->block;
    for (int64_t i = 0; i < csrconv_block_filters(t); i++) {
        const struct csrconv_segment *segment = &m->segments[i];
        if (segment->way != way)
            continue;
        *to->segment++ = (uint32_t)(quads_of(segment) << CSRCONV_PLACE_BITS | segment->place);
        to->quad = csrconv_write_quads(&m->writer, segment->from, segment->to,
                                       m->split->first_channel[chunk], to->quad);
        to->segments++;
    }
    *to->quad++ = csrconv_quad_of_nothing(t);
}

/* Filters and biases of the places. */
static void write_places(const struct maker *m, int64_t tile, uint32_t *words)
{
    const struct csrconv_block_tiling *t = &m->split->block;
    const int64_t places = csrconv_block_filters(t);
    const int64_t first_filter = tile / t->filter_tiles * m->problem->shape.group_filters;
    const float *bias = m->problem->epilogue.bias;
    for (int64_t i = 0; i < places; i++) {
        const int64_t filter = m->place_filter[tile * places + i];
        words[i] = (uint32_t)(filter < 0 ? -1 : first_filter + filter);
        if (filter >= 0 && bias)
            memcpy(words + places + i, bias + first_filter + filter, sizeof *words);
    }
}

static void write_list(const struct maker *m, int64_t list, struct csrconv_quad *quads)
{
    const struct csrconv_block_tiling *t = &m->split->block;
    const int64_t ways = t->filter_ways, places = csrconv_block_filters(t);
    uint32_t *begin = &quads->word[0], *segment = begin + ways + 1;
    struct list_writer to = { quads, quads + csrconv_chunk_list_head(t), segment, 0 };
    find_segments(m, list);
    csrconv_deal_segments(m->segments, places, ways);
    for (int64_t way = 0; way < ways; way++) {
        begin[way] = begin_of(&to);
        write_warp(m, list % t->stages, way, &to);
    }
    begin[ways] = begin_of(&to);
    write_places(m, list / t->stages, segment + places);
}

static csrconv_status deal_groups(struct maker *m, struct csrconv_memory *memory)
{
    const struct csrconv_shape *shape = &m->problem->shape;
    const struct csrconv_block_tiling *t = &m->split->block;
    const int64_t filters = shape->group_filters, ends = filters * (t->stages + 1);
    const int64_t places = t->filter_tiles * csrconv_block_filters(t);
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
    const int64_t places = csrconv_block_filters(t);
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
