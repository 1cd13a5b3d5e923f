#include "jit_schedule.h"

#include "csr.h"
#include "integers.h"
#include "jit_positions.h"

#include <string.h>

/* The panel's nonzeros by columns: what each load feeds. */
struct columns {
    int64_t *begin; /* of each column's; the end */
    struct csrconv_jit_fma *fma;
};

/* Nonzeros of each column, added up: where each column's end. */
static void count_columns(const struct csrconv_weights *w, const struct csrconv_jit_part *part,
                          int64_t columns, int64_t *end)
{
    memset(end, 0, (size_t)(columns + 1) * sizeof *end);
    for (int64_t f = 0; f < part->filters; f++)
        for (int64_t i = w->indptr[part->filter[f]]; i < w->indptr[part->filter[f] + 1]; i++)
            end[w->indices[i]]++;
    for (int64_t i = 1; i <= columns; i++)
        end[i] += end[i - 1];
}

static csrconv_status gather_columns(const struct csrconv_problem *problem,
                                     const struct csrconv_jit_part *part,
                                     struct csrconv_memory *memory, struct columns *columns)
{
    const struct csrconv_weights *w = problem->weights;
    const int64_t count = problem->shape.columns;
    csrconv_status status =
        csrconv_allocate(memory, count + 1, sizeof *columns->begin, (void **)&columns->begin);
    if (status)
        return status;
    count_columns(w, part, count, columns->begin);
    status = csrconv_allocate(memory, columns->begin[count], sizeof *columns->fma,
                              (void **)&columns->fma);
    if (status)
        return status;
    /* From the last filter backwards: ends become begins. */
    for (int64_t f = part->filters - 1; f >= 0; f--)
        for (int64_t i = w->indptr[part->filter[f]]; i < w->indptr[part->filter[f] + 1]; i++)
            columns->fma[--columns->begin[w->indices[i]]] =
                (struct csrconv_jit_fma){ (int32_t)f, w->values[i] };
    return CSRCONV_OK;
}

static int64_t count_loads(const struct columns *columns, int64_t first, int64_t end)
{
    int64_t loads = 0;
    for (int64_t i = first; i < end; i++)
        loads += columns->begin[i + 1] > columns->begin[i];
    return loads;
}

/* The input of channel c of a stage and a position, from a thread's place. */
static int64_t offset_of(const struct csrconv_shape *shape, const struct csrconv_jit_tiling *t,
                         int64_t channel, int64_t position)
{
    const csrconv_geometry *g = &shape->g;
    const int64_t r = position / g->kernel_w, s = position % g->kernel_w;
    return channel * t->channel_pitch + (r * g->dilation_h - g->pad_top) * t->row_pitch +
           s * g->dilation_w - g->pad_left;
}

/* Where the part is filled. */
struct filling {
    const struct csrconv_shape *shape;
    const struct csrconv_jit_tiling *tiling;
    const struct columns *columns;
    struct csrconv_jit_part *part;
    int64_t fmas;
};

static void add_load(struct filling *f, int64_t stage, int64_t channel, int64_t position)
{
    const int64_t positions = csrconv_jit_positions(f->shape);
    const int64_t column = (stage * f->tiling->stage_channels + channel) * positions + position;
    const int64_t begin = f->columns->begin[column], end = f->columns->begin[column + 1];
    struct csrconv_jit_part *part = f->part;
    if (begin == end)
        return;
    part->load[part->loads++] = (struct csrconv_jit_load){
        (int32_t)position, (int32_t)offset_of(f->shape, f->tiling, channel, position), f->fmas
    };
    memcpy(part->fma + f->fmas, f->columns->fma + begin, (size_t)(end - begin) * sizeof *part->fma);
    f->fmas += end - begin;
}

/* Channel by channel in each group of positions, so that neighbours load to different registers. */
static void fill_group(struct filling *f, int64_t stage, int64_t group)
{
    const int64_t positions = csrconv_jit_positions(f->shape), first = group * CSRCONV_JIT_GROUP;
    const int64_t end =
        first + CSRCONV_JIT_GROUP < positions ? first + CSRCONV_JIT_GROUP : positions;
    const int64_t channels = csrconv_jit_channels_of(f->shape, f->tiling, stage);
    for (int64_t channel = 0; channel < channels; channel++)
        for (int64_t position = first; position < end; position++)
            add_load(f, stage, channel, position);
}

static void fill_part(struct filling *f)
{
    const int64_t groups = csrconv_jit_groups(f->shape);
    struct csrconv_jit_part *part = f->part;
    part->loads = 0;
    for (int64_t stage = 0; stage < part->stages; stage++)
        for (int64_t group = 0; group < groups; group++) {
            part->start[stage * groups + group] = part->loads;
            fill_group(f, part->first_stage + stage, group);
        }
    part->start[part->stages * groups] = part->loads;
    part->load[part->loads] = (struct csrconv_jit_load){ 0, 0, f->fmas };
}

static int64_t count_filters(const int64_t *filter, int64_t most)
{
    int64_t count = 0;
    while (count < most && filter[count] >= 0)
        count++;
    return count;
}

/* The first column of a stage, or the end of them all. */
static int64_t column_of(const struct csrconv_shape *shape, const struct csrconv_jit_tiling *t,
                         int64_t stage)
{
    return csrconv_smaller(stage * t->stage_channels, shape->group_channels) *
           csrconv_jit_positions(shape);
}

static csrconv_status allocate_part(const struct csrconv_jit_tiling *tiling,
                                    const struct csrconv_shape *shape,
                                    const struct columns *columns, struct csrconv_memory *memory,
                                    struct csrconv_jit_part *part)
{
    const int64_t first = column_of(shape, tiling, part->first_stage);
    const int64_t end = column_of(shape, tiling, part->first_stage + part->stages);
    const int64_t loads = count_loads(columns, first, end);
    const int64_t fmas = columns->begin[end] - columns->begin[first];
    const int64_t starts = part->stages * csrconv_jit_groups(shape) + 1;
    csrconv_status status =
        csrconv_allocate(memory, loads + 1, sizeof *part->load, (void **)&part->load);
    if (!status)
        status = csrconv_allocate(memory, fmas, sizeof *part->fma, (void **)&part->fma);
    if (!status)
        status = csrconv_allocate(memory, starts, sizeof *part->start, (void **)&part->start);
    return status;
}

/* Which filters and stages are the part's. */
static void place_part(const struct csrconv_jit_tiling *t, const struct csrconv_jit_deal *deal,
                       int64_t number, struct csrconv_jit_part *part)
{
    const int64_t panel = number / t->chunks, chunk = number % t->chunks;
    *part =
        (struct csrconv_jit_part){ .number = number,
                                   .group = panel / t->panels,
                                   .chunk = chunk,
                                   .first_stage = csrconv_jit_share(t->stages, t->chunks, chunk),
                                   .filter = deal->filter + panel * t->filters };
    part->stages = csrconv_jit_share(t->stages, t->chunks, chunk + 1) - part->first_stage;
    part->filters = count_filters(part->filter, t->filters);
}

csrconv_status csrconv_jit_part_make(const struct csrconv_problem *problem,
                                     const struct csrconv_jit_tiling *tiling,
                                     const struct csrconv_jit_deal *deal, int64_t number,
                                     struct csrconv_memory *memory, struct csrconv_jit_part *part)
{
    const struct csrconv_shape *shape = &problem->shape;
    struct columns columns = { NULL, NULL };
    struct filling filling = { shape, tiling, &columns, part, 0 };
    csrconv_status status;
    place_part(tiling, deal, number, part);
    status = gather_columns(problem, part, memory, &columns);
    if (!status)
        status = allocate_part(tiling, shape, &columns, memory, part);
    if (!status)
        fill_part(&filling);
    csrconv_release(memory, columns.fma);
    csrconv_release(memory, columns.begin);
    return status;
}

void csrconv_jit_part_free(const struct csrconv_memory *memory, struct csrconv_jit_part *part)
{
    csrconv_release(memory, part->start);
    csrconv_release(memory, part->fma);
    csrconv_release(memory, part->load);
}
