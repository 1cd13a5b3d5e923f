#include "jit_schedule.h"

#include "csr.h"
#include "jit_positions.h"
#include "row_order.h"

#include <stdlib.h>
#include <string.h>

static int ascending(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Longest first, to each panel in turn, every other round backwards. */
static void deal_group(const struct csrconv_jit_tiling *t, const struct csrconv_row *rows,
                       int64_t count, int64_t *filter)
{
    for (int64_t i = 0; i < count; i++) {
        const int64_t round = i / t->panels, at = i % t->panels;
        const int64_t panel = round % 2 ? t->panels - 1 - at : at;
        filter[panel * t->filters + round] = rows[i].filter;
    }
}

/* Sorts a panel's filters, and counts them. */
static int64_t sort_panel(int64_t *filter, int64_t most)
{
    int64_t count = 0;
    for (int64_t i = 0; i < most; i++)
        if (filter[i] >= 0)
            filter[count++] = filter[i];
    for (int64_t i = count; i < most; i++)
        filter[i] = -1;
    qsort(filter, (size_t)count, sizeof *filter, ascending);
    return count;
}

csrconv_status csrconv_jit_deal_make(const struct csrconv_problem *problem,
                                     const struct csrconv_jit_tiling *tiling,
                                     struct csrconv_memory *memory, struct csrconv_jit_deal *deal)
{
    const int64_t count = problem->shape.group_filters;
    struct csrconv_row *rows;
    csrconv_status status;
    deal->panels = problem->shape.g.groups * tiling->panels;
    status = csrconv_allocate(memory, deal->panels * tiling->filters, sizeof *deal->filter,
                              (void **)&deal->filter);
    if (status || (status = csrconv_allocate(memory, count, sizeof *rows, (void **)&rows)))
        return status;
    for (int64_t i = 0; i < deal->panels * tiling->filters; i++)
        deal->filter[i] = -1;
    for (int64_t group = 0; group < problem->shape.g.groups; group++) {
        csrconv_order_rows(problem, group, rows);
        deal_group(tiling, rows, count, deal->filter + group * tiling->panels * tiling->filters);
    }
    for (int64_t i = 0; i < deal->panels; i++)
        sort_panel(deal->filter + i * tiling->filters, tiling->filters);
    csrconv_release(memory, rows);
    return CSRCONV_OK;
}

void csrconv_jit_deal_free(const struct csrconv_memory *memory, struct csrconv_jit_deal *deal)
{
    csrconv_release(memory, deal->filter);
}

/* The panel's nonzeros by columns: what each load feeds. */
struct columns {
    int64_t *begin; /* of each column's; the end */
    struct csrconv_jit_fma *fma;
};

/* Nonzeros of each column, added up: where each column's end. */
static void count_columns(const struct csrconv_weights *w, const struct csrconv_jit_panel *panel,
                          int64_t columns, int64_t *end)
{
    memset(end, 0, (size_t)(columns + 1) * sizeof *end);
    for (int64_t f = 0; f < panel->filters; f++)
        for (int64_t i = w->indptr[panel->filter[f]]; i < w->indptr[panel->filter[f] + 1]; i++)
            end[w->indices[i]]++;
    for (int64_t i = 1; i <= columns; i++)
        end[i] += end[i - 1];
}

static csrconv_status gather_columns(const struct csrconv_problem *problem,
                                     const struct csrconv_jit_panel *panel,
                                     struct csrconv_memory *memory, struct columns *columns)
{
    const struct csrconv_weights *w = problem->weights;
    const int64_t count = problem->shape.columns;
    csrconv_status status =
        csrconv_allocate(memory, count + 1, sizeof *columns->begin, (void **)&columns->begin);
    if (status)
        return status;
    count_columns(w, panel, count, columns->begin);
    status = csrconv_allocate(memory, columns->begin[count], sizeof *columns->fma,
                              (void **)&columns->fma);
    if (status)
        return status;
    /* From the last filter backwards: ends become begins. */
    for (int64_t f = panel->filters - 1; f >= 0; f--)
        for (int64_t i = w->indptr[panel->filter[f]]; i < w->indptr[panel->filter[f] + 1]; i++)
            columns->fma[--columns->begin[w->indices[i]]] =
                (struct csrconv_jit_fma){ (int32_t)f, w->values[i] };
    return CSRCONV_OK;
}

static int64_t count_loads(const struct columns *columns, int64_t count)
{
    int64_t loads = 0;
    for (int64_t i = 0; i < count; i++)
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

/* Where the panel is filled. */
struct filling {
    const struct csrconv_shape *shape;
    const struct csrconv_jit_tiling *tiling;
    const struct columns *columns;
    struct csrconv_jit_panel *panel;
    int64_t fmas;
};

static void add_load(struct filling *f, int64_t stage, int64_t channel, int64_t position)
{
    const int64_t positions = csrconv_jit_positions(f->shape);
    const int64_t column = (stage * f->tiling->stage_channels + channel) * positions + position;
    const int64_t begin = f->columns->begin[column], end = f->columns->begin[column + 1];
    struct csrconv_jit_panel *panel = f->panel;
    if (begin == end)
        return;
    panel->load[panel->loads++] = (struct csrconv_jit_load){
        (int32_t)position, (int32_t)offset_of(f->shape, f->tiling, channel, position), f->fmas
    };
    memcpy(panel->fma + f->fmas, f->columns->fma + begin,
           (size_t)(end - begin) * sizeof *panel->fma);
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

static void fill_panel(struct filling *f)
{
    const int64_t groups = csrconv_jit_groups(f->shape);
    struct csrconv_jit_panel *panel = f->panel;
    panel->loads = 0;
    for (int64_t stage = 0; stage < f->tiling->stages; stage++)
        for (int64_t group = 0; group < groups; group++) {
            panel->start[stage * groups + group] = panel->loads;
            fill_group(f, stage, group);
        }
    panel->start[f->tiling->stages * groups] = panel->loads;
    panel->load[panel->loads] = (struct csrconv_jit_load){ 0, 0, f->fmas };
}

static int64_t count_filters(const int64_t *filter, int64_t most)
{
    int64_t count = 0;
    while (count < most && filter[count] >= 0)
        count++;
    return count;
}

static csrconv_status allocate_panel(const struct csrconv_jit_tiling *tiling,
                                     const struct csrconv_shape *shape,
                                     const struct columns *columns, struct csrconv_memory *memory,
                                     struct csrconv_jit_panel *panel)
{
    const int64_t loads = count_loads(columns, shape->columns);
    const int64_t parts = tiling->stages * csrconv_jit_groups(shape);
    csrconv_status status =
        csrconv_allocate(memory, loads + 1, sizeof *panel->load, (void **)&panel->load);
    if (!status)
        status = csrconv_allocate(memory, columns->begin[shape->columns], sizeof *panel->fma,
                                  (void **)&panel->fma);
    if (!status)
        status = csrconv_allocate(memory, parts + 1, sizeof *panel->start, (void **)&panel->start);
    return status;
}

csrconv_status csrconv_jit_panel_make(const struct csrconv_problem *problem,
                                      const struct csrconv_jit_tiling *tiling,
                                      const struct csrconv_jit_deal *deal, int64_t number,
                                      struct csrconv_memory *memory,
                                      struct csrconv_jit_panel *panel)
{
    const struct csrconv_shape *shape = &problem->shape;
    struct columns columns = { NULL, NULL };
    struct filling filling = { shape, tiling, &columns, panel, 0 };
    csrconv_status status;
    *panel = (struct csrconv_jit_panel){ .group = number / tiling->panels,
                                         .filter = deal->filter + number * tiling->filters };
    panel->filters = count_filters(panel->filter, tiling->filters);
    status = gather_columns(problem, panel, memory, &columns);
    if (!status)
        status = allocate_panel(tiling, shape, &columns, memory, panel);
    if (!status)
        fill_panel(&filling);
    csrconv_release(memory, columns.fma);
    csrconv_release(memory, columns.begin);
    return status;
}

void csrconv_jit_panel_free(const struct csrconv_memory *memory, struct csrconv_jit_panel *panel)
{
    csrconv_release(memory, panel->start);
    csrconv_release(memory, panel->fma);
    csrconv_release(memory, panel->load);
}
