#include "jit_traffic.h"

#include "helpers.h"
#include "integers.h"
#include "jit_ptx.h"

#include <stdlib.h>

/* What a copy may bring beside what it is for: to whole 16 bytes at both ends. */
enum { MOST_MORE = 27 };

/* The outputs of a block within an image, lanes of it that are idle among them. */
struct lanes {
    int64_t begin, end;
};

static struct lanes lanes_of(const struct csrconv_shape *shape, const struct csrconv_jit_tiling *t,
                             int64_t images, int64_t block, int64_t image)
{
    const int64_t lanes = csrconv_jit_image_lanes(shape), from = image * lanes;
    const int64_t end = csrconv_smaller((block + 1) * t->span, images * lanes) - from;
    return (struct lanes){ csrconv_larger(block * t->span - from, 0), csrconv_smaller(end, lanes) };
}

/* Rows of an image from the first that these outputs see to the last; idle lanes do as the last. */
static int64_t rows_seen(const struct csrconv_shape *shape, struct lanes lanes)
{
    const csrconv_geometry *g = &shape->g;
    int64_t least = g->height, most = -1;
    for (int64_t lane = lanes.begin; lane < lanes.end; lane++) {
        const int64_t output = csrconv_smaller(lane, shape->out_plane - 1);
        const int64_t first = output / shape->out_w * g->stride_h - g->pad_top;
        const int64_t last = first + (g->kernel_h - 1) * g->dilation_h;
        least = csrconv_smaller(least, csrconv_larger(first, 0));
        most = csrconv_larger(most, csrconv_smaller(last, g->height - 1));
    }
    return csrconv_larger(most - least + 1, 0);
}

/* Words of one channel that a block that trims has to bring. */
static int64_t trimmed_words(const struct csrconv_shape *shape, const struct csrconv_jit_tiling *t,
                             int64_t images, int64_t block)
{
    const int64_t first = block * t->span / csrconv_jit_image_lanes(shape);
    int64_t words = 0;
    for (int64_t slot = 0; slot < t->slots; slot++) {
        const struct lanes lanes = lanes_of(shape, t, images, block, first + slot);
        const bool is_between = slot > 0 && slot < t->slots - 1;
        if (lanes.begin < lanes.end)
            words += is_between ? shape->plane : rows_seen(shape, lanes) * shape->g.width;
    }
    return words;
}

/* Words of all channels that all blocks of a panel have to bring. */
static int64_t panel_words(const struct csrconv_shape *shape, const struct csrconv_jit_tiling *t,
                           int64_t images)
{
    const int64_t blocks = csrconv_jit_blocks(shape, t, images);
    int64_t words = 0;
    if (t->trims) {
        for (int64_t block = 0; block < blocks; block++)
            words += trimmed_words(shape, t, images, block);
        return words * shape->group_channels;
    }
    for (int64_t stage = 0; stage < t->stages; stage++) {
        const struct csrconv_jit_copies copies = csrconv_jit_copies_of(shape, t, stage);
        words += copies.count * copies.words;
    }
    return words * blocks;
}

void check_copied(const struct csrconv_shape *shape, const struct csrconv_jit_tiling *t,
                  int64_t images, const struct ptx_traffic *traffic)
{
    const int64_t panels = csrconv_jit_panels(shape, t), warps = t->threads / 32;
    const int64_t count = csrconv_jit_copies_of(shape, t, 0).count;
    const int64_t bytes = panels * panel_words(shape, t, images) * (int64_t)sizeof(float);
    const int64_t copies = panels * csrconv_jit_blocks(shape, t, images) * t->stages * count;
    assert_in_range(traffic->copied_bytes, bytes, bytes + MOST_MORE * copies);
    assert_true(traffic->most_copies <=
                csrconv_ceil_divide(count, warps) * csrconv_ceil_divide(t->stages, t->chunks));
}

static int compare_fetches(const void *left, const void *right)
{
    const struct ptx_fetch *a = left, *b = right;
    if (a->function != b->function)
        return a->function < b->function ? -1 : 1;
    return a->line < b->line ? -1 : a->line > b->line;
}

/* How many fetches from the first on are of its line. */
static int64_t count_same(const struct ptx_fetch *fetch, int64_t left)
{
    int64_t count = 0;
    while (count < left && compare_fetches(fetch, &fetch[count]) == 0)
        count++;
    return count;
}

/* Functions lie as their parts do. Some of the blocks together fetch each line once. */
void check_fetched(const struct csrconv_jit_tiling *tiling, int64_t blocks, const int64_t *lines,
                   int64_t parts, struct ptx_traffic *traffic)
{
    const int64_t rounds = blocks / CSRCONV_JIT_FETCHING_BLOCKS;
    int64_t at = 0;
    if (traffic->fetch_count)
        qsort(traffic->fetches, (size_t)traffic->fetch_count, sizeof *traffic->fetches,
              compare_fetches);
    if (blocks < tiling->blocks) /* too few for all of the code */
        return;
    for (int64_t part = 0; part < parts; part++)
        for (int64_t line = 0; line < lines[part]; line++) {
            int64_t same;
            assert_true(at < traffic->fetch_count);
            assert_int_equal(traffic->fetches[at].line, line);
            same = count_same(&traffic->fetches[at], traffic->fetch_count - at);
            assert_in_range(same, blocks <= CSRCONV_JIT_FETCHING_BLOCKS ? 1 : rounds, rounds + 1);
            at += same;
        }
    assert_int_equal(at, traffic->fetch_count);
}
