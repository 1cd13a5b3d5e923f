#include "grid.h"

#include "random.h"

#include <stdio.h>
#include <string.h>

enum grid_flag {
    BIAS = 1,
    RESIDUAL = 2,
    RELU = 4,
    CLAMP = 8,
    MISALIGNED = 16,
    STRIDED_IN = 32,  /* gaps between the images of the input */
    STRIDED_OUT = 64, /* and of the output */
    FEWER = 128,      /* n < N */
    EMPTY_ROWS = 256,
    LONG_ROW = 512
};

struct corner {
    const char *name;
    int16_t n, c, h, w, m, r, s, sh, sw, dh, dw, pt, pl, pb, pr, g;
    float sparsity;
    int flags;
};

static const struct corner corners[] = {
    /* name                 N   C   H   W   M   R   S  sh sw dh dw  padding      G */
    { "1x1", 2, 16, 7, 7, 24, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 1, 0.9F, 0 },
    { "1x1 one of all", 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 1, 0.0F, 0 },
    { "1x1 stride 2", 3, 8, 9, 11, 5, 1, 1, 2, 2, 1, 1, 0, 0, 0, 0, 1, 0.8F, BIAS },
    { "1x1 padded", 1, 4, 5, 5, 6, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0.5F, BIAS | RELU },
    { "3x3", 2, 16, 14, 14, 32, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0.9F, BIAS | RELU },
    { "3x3 odd sizes", 3, 5, 13, 17, 7, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0.7F, 0 },
    { "3x3 no padding", 1, 8, 9, 9, 8, 3, 3, 1, 1, 1, 1, 0, 0, 0, 0, 1, 0.9F, 0 },
    { "3x3 stride 2", 2, 8, 15, 15, 12, 3, 3, 2, 2, 1, 1, 1, 1, 1, 1, 1, 0.85F, RELU },
    { "3x3 stride 2x1", 1, 6, 15, 10, 9, 3, 3, 2, 1, 1, 1, 1, 1, 1, 1, 1, 0.8F, 0 },
    { "5x5", 1, 6, 14, 14, 10, 5, 5, 1, 1, 1, 1, 2, 2, 2, 2, 1, 0.9F, BIAS },
    { "7x7 stride 2", 1, 3, 32, 32, 16, 7, 7, 2, 2, 1, 1, 3, 3, 3, 3, 1, 0.5F, BIAS },
    { "11x11 stride 4", 1, 3, 47, 47, 8, 11, 11, 4, 4, 1, 1, 0, 0, 0, 0, 1, 0.3F, 0 },
    { "31x31", 1, 2, 32, 33, 3, 31, 31, 1, 1, 1, 1, 15, 15, 15, 15, 1, 0.95F, 0 },
    { "1x7", 2, 6, 9, 12, 8, 1, 7, 1, 1, 1, 1, 0, 3, 0, 3, 1, 0.7F, 0 },
    { "7x1", 2, 6, 12, 9, 8, 7, 1, 1, 1, 1, 1, 3, 0, 3, 0, 1, 0.7F, 0 },
    { "1x5 stride 1x2", 1, 4, 6, 16, 6, 1, 5, 1, 2, 1, 1, 0, 2, 0, 1, 1, 0.6F, RELU },
    { "kernel over the image", 2, 4, 3, 2, 5, 5, 7, 1, 1, 1, 1, 2, 3, 2, 3, 1, 0.5F, 0 },
    { "kernel as wide as the image", 1, 1, 8, 1000, 300, 1, 1000, 1, 1, 1, 1, 0, 0, 0, 0, 1, 0.99F,
      BIAS },
    { "stride over the kernel", 2, 4, 17, 19, 6, 2, 2, 5, 4, 1, 1, 0, 0, 0, 0, 1, 0.4F, 0 },
    { "dilation 2", 1, 6, 14, 14, 8, 3, 3, 1, 1, 2, 2, 2, 2, 2, 2, 1, 0.8F, 0 },
    { "dilation 3x2 stride 2x3", 2, 4, 23, 25, 6, 3, 3, 2, 3, 3, 2, 3, 2, 3, 2, 1, 0.6F, BIAS },
    { "padding 0 2 1 0", 1, 4, 8, 9, 5, 3, 3, 1, 1, 1, 1, 0, 2, 1, 0, 1, 0.5F, 0 },
    { "padding at the end only", 2, 3, 7, 5, 4, 3, 3, 2, 1, 1, 1, 0, 0, 2, 2, 1, 0.4F, 0 },
    { "padding over the kernel", 1, 3, 4, 5, 4, 3, 3, 1, 1, 1, 1, 7, 5, 6, 8, 1, 0.5F,
      BIAS | RELU },
    { "depthwise", 2, 12, 10, 10, 12, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1, 12, 0.4F, BIAS },
    { "depthwise times 2", 1, 6, 9, 9, 12, 3, 3, 2, 2, 1, 1, 1, 1, 1, 1, 6, 0.3F, 0 },
    { "groups 2", 2, 8, 13, 13, 10, 5, 5, 1, 1, 1, 1, 2, 2, 2, 2, 2, 0.85F, BIAS },
    { "groups 3 1x1", 3, 9, 6, 7, 6, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 3, 0.5F, RESIDUAL },
    { "batch 17", 17, 4, 7, 7, 6, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0.8F, 0 },
    { "batch 17, 5 run", 17, 4, 7, 7, 6, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0.8F, FEWER | BIAS },
    { "batch strides", 3, 5, 8, 8, 7, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0.7F,
      STRIDED_IN | STRIDED_OUT | FEWER },
    { "misaligned", 2, 7, 9, 9, 5, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0.7F, MISALIGNED | RESIDUAL },
    { "misaligned 1x1", 3, 8, 7, 7, 9, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 1, 0.7F,
      MISALIGNED | STRIDED_IN | BIAS },
    { "everything at once", 3, 8, 15, 13, 12, 3, 5, 2, 1, 1, 2, 1, 4, 2, 3, 2, 0.8F,
      BIAS | RESIDUAL | CLAMP | MISALIGNED | STRIDED_IN | STRIDED_OUT | FEWER },
    { "empty rows", 1, 16, 12, 12, 16, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0.85F,
      EMPTY_ROWS | BIAS | RELU },
    { "empty rows 16x16", 1, 16, 1, 16, 16, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 1, 0.85F, EMPTY_ROWS },
    { "no nonzeros", 2, 4, 5, 5, 3, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0.999F,
      BIAS | RESIDUAL | RELU },
    { "no nonzeros, no bias", 1, 2, 3, 3, 2, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 1, 0.999F, 0 },
    { "full density", 1, 8, 9, 9, 8, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0.0F, BIAS },
    { "one long row", 1, 64, 7, 7, 24, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0.98F, LONG_ROW },
    { "one column of pixels", 2, 8, 33, 1, 6, 3, 1, 1, 1, 1, 1, 1, 0, 1, 0, 1, 0.7F, 0 },
    { "one row of pixels", 2, 8, 1, 33, 6, 1, 3, 1, 1, 1, 1, 0, 1, 0, 1, 1, 0.7F, CLAMP },
    { "one pixel", 2, 32, 1, 1, 17, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 1, 0.8F, BIAS },
    { "one channel", 2, 1, 9, 9, 4, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0.3F, 0 },
    { "one filter", 2, 9, 6, 6, 1, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0.6F, 0 },
    { "batch 1 of many filters", 1, 4, 4, 4, 300, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 1, 0.5F, 0 },
    { "wide", 1, 3, 3, 230, 4, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0.5F, 0 },
    { "tall", 1, 3, 230, 3, 4, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0.5F, 0 },
};

/* Output sizes around the vector widths, as 1 x pixels. */
static const int16_t pixel_counts[] = { 1,  2,  3,  4,  5,  7,  8,  9,  15,
                                        16, 17, 31, 32, 33, 49, 63, 64, 65 };

enum {
    CORNERS = sizeof corners / sizeof *corners,
    PIXEL_COUNTS = sizeof pixel_counts / sizeof *pixel_counts,
    RANDOM_CASES = 150
};

int grid_count(void)
{
    return CORNERS + PIXEL_COUNTS + RANDOM_CASES;
}

static void set_flags(struct grid_case *out, int flags)
{
    struct workload_options *o = &out->options;
    csrconv_geometry *g = &out->geometry;
    int64_t out_h, out_w;
    o->has_bias = flags & BIAS;
    o->has_residual = flags & RESIDUAL;
    o->is_misaligned = flags & MISALIGNED;
    o->activation = flags & RELU    ? CSRCONV_ACTIVATION_RELU
                    : flags & CLAMP ? CSRCONV_ACTIVATION_CLAMP
                                    : CSRCONV_ACTIVATION_NONE;
    o->lo = -1.0F;
    o->hi = 6.0F;
    o->rows = flags & EMPTY_ROWS ? ROWS_SOME_EMPTY
              : flags & LONG_ROW ? ROWS_ONE_LONG
                                 : ROWS_LIKE_REAL;
    out->n = flags & FEWER && g->batch > 1 ? (g->batch + 2) / 3 : g->batch;
    if (flags & STRIDED_IN)
        g->in_batch_stride = g->channels * g->height * g->width + 5;
    if (flags & STRIDED_OUT && !csrconv_output_size(g, &out_h, &out_w))
        g->out_batch_stride = g->filters * out_h * out_w + 3;
}

static void corner_case(const struct corner *k, struct grid_case *out)
{
    const csrconv_geometry g = { sizeof g, k->n,  k->c,  k->h,  k->w,  k->m,  k->r,
                                 k->s,     k->sh, k->sw, k->dh, k->dw, k->pt, k->pl,
                                 k->pb,    k->pr, k->g,  0,     0 };
    snprintf(out->name, sizeof out->name, "%s", k->name);
    out->geometry = g;
    out->options.sparsity = (double)k->sparsity;
    set_flags(out, k->flags);
}

static void pixel_case(int64_t pixels, struct grid_case *out)
{
    csrconv_geometry *g = &out->geometry;
    snprintf(out->name, sizeof out->name, "%lld pixels", (long long)pixels);
    csrconv_geometry_init(g);
    g->batch = 2;
    g->channels = 20;
    g->height = 1;
    g->width = pixels;
    g->filters = 11;
    g->kernel_h = 1;
    g->kernel_w = 3;
    g->pad_left = g->pad_right = 1;
    out->options.sparsity = 0.8;
    set_flags(out, BIAS);
}

static int64_t pick(struct random_state *state, int64_t least, int64_t most)
{
    return least + (int64_t)random_below(state, (uint64_t)(most - least + 1));
}

/* Sizes are drawn until there is an output; small ones are as likely as large ones. */
static void random_geometry(struct random_state *state, csrconv_geometry *g)
{
    do {
        csrconv_geometry_init(g);
        g->groups = pick(state, 0, 2) ? 1 : pick(state, 2, 4);
        g->batch = pick(state, 1, 4);
        g->channels = g->groups * pick(state, 1, 24);
        g->filters = g->groups * pick(state, 1, 24);
        g->height = pick(state, 1, 20);
        g->width = pick(state, 1, 20);
        g->kernel_h = pick(state, 1, 5);
        g->kernel_w = pick(state, 0, 1) ? g->kernel_h : pick(state, 1, 7);
        g->stride_h = pick(state, 1, 3);
        g->stride_w = pick(state, 0, 1) ? g->stride_h : pick(state, 1, 4);
        g->dilation_h = pick(state, 0, 2) ? 1 : pick(state, 2, 3);
        g->dilation_w = pick(state, 0, 2) ? 1 : pick(state, 2, 3);
        g->pad_top = pick(state, 0, 3);
        g->pad_left = pick(state, 0, 3);
        g->pad_bottom = pick(state, 0, 1) ? g->pad_top : pick(state, 0, 4);
        g->pad_right = pick(state, 0, 1) ? g->pad_left : pick(state, 0, 4);
    } while (csrconv_output_size(g, NULL, NULL));
}

static void random_case(int index, uint64_t seed, struct grid_case *out)
{
    struct random_state state;
    random_seed(&state, seed + (uint64_t)index);
    snprintf(out->name, sizeof out->name, "random %d", index);
    random_geometry(&state, &out->geometry);
    out->options.sparsity = random_unit(&state);
    set_flags(out, (int)random_below(&state, 2 * LONG_ROW));
}

void grid_case(int index, uint64_t seed, struct grid_case *out)
{
    memset(out, 0, sizeof *out);
    if (index < CORNERS)
        corner_case(&corners[index], out);
    else if (index < CORNERS + PIXEL_COUNTS)
        pixel_case(pixel_counts[index - CORNERS], out);
    else
        random_case(index - CORNERS - PIXEL_COUNTS, seed, out);
}
