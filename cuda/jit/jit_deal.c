#include "jit_deal.h"

#include "csr.h"
#include "row_order.h"

#include <stdlib.h>
#include <string.h>

enum {
    MOST_COMPARED = 64, /* panels: a filter is held against each of them */
    COLUMN_WORTH = 32   /* work that a shared column outweighs: later rounds even work out */
};

/* The filters of a group, dealt in rounds: one of each round to each panel. */
struct dealing {
    const struct csrconv_problem *problem;
    const struct csrconv_jit_tiling *tiling;
    struct csrconv_row *rows;
    int64_t *filter; /* of the group's panels; round r of panel p: [p * tiling->filters + r] */
    bool *is_used;   /* column c by panel p: [p * columns + c] */
    int64_t *work;   /* of panel p: its nonzeros and the columns that it uses */
};

static int ascending(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Longest first, to each panel in turn, every other round backwards. */
static void deal_in_turn(struct dealing *d)
{
    const int64_t count = d->problem->shape.group_filters, panels = d->tiling->panels;
    for (int64_t i = 0; i < count; i++) {
        const int64_t round = i / panels, at = i % panels;
        const int64_t panel = round % 2 ? panels - 1 - at : at;
        d->filter[panel * d->tiling->filters + round] = d->rows[i].filter;
    }
}

/* ------------------------------------------------------------------------------- shared columns */

static void add_filter(struct dealing *d, int64_t panel, int64_t filter)
{
    const struct csrconv_weights *w = d->problem->weights;
    bool *is_used = d->is_used + panel * d->problem->shape.columns;
    for (int64_t i = w->indptr[filter]; i < w->indptr[filter + 1]; i++) {
        d->work[panel] += is_used[w->indices[i]] ? 1 : 2;
        is_used[w->indices[i]] = true;
    }
}

static int64_t count_shared(const struct dealing *d, int64_t panel, int64_t filter)
{
    const struct csrconv_weights *w = d->problem->weights;
    const bool *is_used = d->is_used + panel * d->problem->shape.columns;
    int64_t shared = 0;
    for (int64_t i = w->indptr[filter]; i < w->indptr[filter + 1]; i++)
        shared += is_used[w->indices[i]];
    return shared;
}

/* Of the panels without a filter of the round: one of little work that uses the same columns. */
static int64_t best_panel(const struct dealing *d, int64_t round, int64_t filter)
{
    int64_t best = -1, least = 0;
    for (int64_t panel = 0; panel < d->tiling->panels; panel++) {
        int64_t work;
        if (d->filter[panel * d->tiling->filters + round] >= 0)
            continue;
        work = d->work[panel] - COLUMN_WORTH * count_shared(d, panel, filter);
        if (best < 0 || work < least) {
            least = work;
            best = panel;
        }
    }
    return best;
}

/* Filters of a round have about the same length, and the longest has the choice. */
static void deal_by_columns(struct dealing *d)
{
    const int64_t count = d->problem->shape.group_filters, panels = d->tiling->panels;
    memset(d->work, 0, (size_t)panels * sizeof *d->work);
    memset(d->is_used, 0, (size_t)(panels * d->problem->shape.columns) * sizeof *d->is_used);
    for (int64_t i = 0; i < count; i++) {
        const int64_t filter = d->rows[i].filter, round = i / panels;
        const int64_t panel = best_panel(d, round, filter);
        d->filter[panel * d->tiling->filters + round] = filter;
        add_filter(d, panel, filter);
    }
}

/* ----------------------------------------------------------------------------------- all groups */

/* Sorts a panel's filters, with those that there are first. */
static void sort_panel(int64_t *filter, int64_t most)
{
    int64_t count = 0;
    for (int64_t i = 0; i < most; i++)
        if (filter[i] >= 0)
            filter[count++] = filter[i];
    for (int64_t i = count; i < most; i++)
        filter[i] = -1;
    qsort(filter, (size_t)count, sizeof *filter, ascending);
}

static void deal_group(struct dealing *d, int64_t group)
{
    csrconv_order_rows(d->problem, group, d->rows);
    if (d->is_used)
        deal_by_columns(d);
    else
        deal_in_turn(d);
    for (int64_t i = 0; i < d->tiling->panels; i++)
        sort_panel(d->filter + i * d->tiling->filters, d->tiling->filters);
}

static csrconv_status allocate(struct dealing *d, struct csrconv_memory *memory)
{
    const struct csrconv_shape *shape = &d->problem->shape;
    const int64_t panels = d->tiling->panels;
    csrconv_status status =
        csrconv_allocate(memory, shape->group_filters, sizeof *d->rows, (void **)&d->rows);
    if (!status)
        status = csrconv_allocate(memory, panels, sizeof *d->work, (void **)&d->work);
    if (status || panels < 2 || panels > MOST_COMPARED || d->problem->without.row_order)
        return status;
    return csrconv_allocate(memory, panels * shape->columns, sizeof *d->is_used,
                            (void **)&d->is_used);
}

csrconv_status csrconv_jit_deal_make(const struct csrconv_problem *problem,
                                     const struct csrconv_jit_tiling *tiling,
                                     struct csrconv_memory *memory, struct csrconv_jit_deal *deal)
{
    struct dealing d = { .problem = problem, .tiling = tiling };
    csrconv_status status;
    deal->panels = csrconv_jit_panels(&problem->shape, tiling);
    status = csrconv_allocate(memory, deal->panels * tiling->filters, sizeof *deal->filter,
                              (void **)&deal->filter);
    if (!status)
        status = allocate(&d, memory);
    if (!status) {
        for (int64_t i = 0; i < deal->panels * tiling->filters; i++)
            deal->filter[i] = -1;
        for (int64_t group = 0; group < problem->shape.g.groups; group++) {
            d.filter = deal->filter + group * tiling->panels * tiling->filters;
            deal_group(&d, group);
        }
    }
    csrconv_release(memory, d.is_used);
    csrconv_release(memory, d.work);
    csrconv_release(memory, d.rows);
    return status;
}

void csrconv_jit_deal_free(const struct csrconv_memory *memory, struct csrconv_jit_deal *deal)
{
    csrconv_release(memory, deal->filter);
}
