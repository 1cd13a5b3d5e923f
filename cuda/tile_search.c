#include "tile_search.h"

#include "integers.h"

enum { CUTS = 4 };

/* Where the patches go, and what all of a search have in common. */
struct search {
    const struct csrconv_shape *shape;
    int64_t words;
    csrconv_tile_visit visit;
    void *context;
};

/* As many images of such tiles as the words hold, which hold one, or fewer if that cuts alike. */
static int64_t images_that_fit(const struct search *s, const struct csrconv_patch *one)
{
    const int64_t batch = s->shape->g.batch;
    const int64_t fit = 1 + (s->words - one->span) / one->image_pitch;
    const int64_t most = csrconv_smaller(csrconv_smaller(fit, CSRCONV_MOST_TILE_IMAGES - 1), batch);
    return csrconv_ceil_divide(batch, csrconv_ceil_divide(batch, most));
}

/* Tiles of `columns`, of as many images as fit: of all rows or a few, cut evenly. */
static void visit_rows(const struct search *s, int64_t columns, int64_t vector)
{
    struct csrconv_patch patch;
    int64_t tallest, cuts, last = 0;
    if (!csrconv_patch_make(s->shape, 1, 1, columns, vector, &patch))
        return;
    tallest = csrconv_smaller(
        csrconv_smaller((s->words - columns) / patch.pitch + 1, CSRCONV_MOST_TILE_SIDE - 1),
        s->shape->out_h);
    cuts = csrconv_ceil_divide(s->shape->out_h, tallest);
    for (int64_t end = cuts + CUTS; cuts < end && cuts <= s->shape->out_h; cuts++) {
        const int64_t rows = csrconv_ceil_divide(s->shape->out_h, cuts);
        int64_t images;
        if (rows == last)
            continue;
        last = rows;
        if (!csrconv_patch_make(s->shape, 1, rows, columns, vector, &patch) ||
            patch.span > s->words)
            continue;
        images = images_that_fit(s, &patch);
        if (images == 1 || csrconv_patch_make(s->shape, images, rows, columns, vector, &patch))
            s->visit(s->context, &patch);
    }
}

void csrconv_tile_each(const struct csrconv_shape *shape, int64_t words, int64_t widest,
                       csrconv_tile_visit visit, void *context)
{
    const struct search s = { shape, words, visit, context };
    const int64_t cuts =
        csrconv_ceil_divide(shape->out_w, csrconv_smaller(words, CSRCONV_MOST_TILE_SIDE - 1));
    const int64_t columns = csrconv_ceil_divide(shape->out_w, cuts);
    const int64_t most = csrconv_smaller(widest, csrconv_patch_widest(shape, columns));
    for (int64_t vector = 1; vector <= most; vector *= 2)
        visit_rows(&s, columns, vector);
}

int64_t csrconv_image_tiles(const struct csrconv_shape *shape, const struct csrconv_patch *patch)
{
    return csrconv_ceil_divide(shape->g.batch, patch->images);
}

int64_t csrconv_row_tiles(const struct csrconv_shape *shape, const struct csrconv_patch *patch)
{
    return csrconv_ceil_divide(shape->out_h, patch->rows);
}

int64_t csrconv_column_tiles(const struct csrconv_shape *shape, const struct csrconv_patch *patch)
{
    return csrconv_ceil_divide(shape->out_w, patch->columns);
}
