/* What in a part's PTX has to do with which output is whose. */
#include "divisor.h"
#include "jit_positions.h"
#include "jit_printer.h"

#include <math.h>

/* quotient and rest, registers, of another register; the quotient's is neither of the others. */
void csrconv_jit_print_divide(const struct printer *p, const char *quotient, const char *rest,
                              const char *numerator, int64_t by)
{
    const struct csrconv_divisor divisor = csrconv_divisor_of(by);
    say("mul.wide.u32 add, %s, %" PRIu32 ";\nshr.u64 add, add, %" PRId32 ";\n"
        "cvt.u32.u64 %s, add;\n",
        numerator, divisor.multiplier, divisor.shift, quotient);
    say("mad.lo.s32 %s, %s, %" PRId64 ", %s;\n", rest, quotient, -by, numerator);
}

/* first, image, slot, y, x of a thread whose outputs follow one another through the images. */
static void print_flat_output(const struct printer *p)
{
    const int64_t plane = p->shape->out_plane, lanes = csrconv_jit_image_lanes(p->shape);
    const int64_t span = p->tiling->span;
    say("mul.lo.u32 t, block, %" PRId64 ";\n", span);
    csrconv_jit_print_divide(p, "first", "u", "t", lanes);
    say("add.u32 u, t, thread;\n");
    csrconv_jit_print_parameter(p, "v", PARAMETER_IMAGES);
    say("mul.lo.u32 v, v, %" PRId64 ";\n", lanes);
    say("setp.lt.u32 valid, thread, %" PRId64 ";\nsetp.lt.and.u32 valid, u, v, valid;\n", span);
    /* Threads beyond the last output do as the last one's does. */
    say("min.u32 u, thread, %" PRId64 ";\nadd.u32 u, u, t;\n", span - 1);
    say("sub.u32 v, v, 1;\nmin.u32 u, u, v;\n");
    csrconv_jit_print_divide(p, "image", "u", "u", lanes);
    if (lanes != plane)
        say("setp.lt.and.u32 valid, u, %" PRId64 ", valid;\nmin.u32 u, u, %" PRId64 ";\n", plane,
            plane - 1);
    say("sub.u32 slot, image, first;\n");
    csrconv_jit_print_divide(p, "y", "x", "u", p->shape->out_w);
    say("mov.u32 row, 0;\nmov.u32 column, 0;\n");
}

/* The first input row or column that a tile stages: `output` is its first. */
static void print_first_input(const struct printer *p, const char *input, const char *output,
                              int64_t stride, int64_t pad, int64_t last)
{
    say("mul.lo.u32 %s, %s, %" PRId64 ";\nsub.s32 %s, %s, %" PRId64 ";\n", input, output, stride,
        input, input, pad);
    say("max.s32 %s, %s, 0;\nmin.s32 %s, %s, %" PRId64 ";\n", input, input, input, input, last);
}

static void print_tile_output(const struct printer *p)
{
    const struct csrconv_jit_tiling *t = p->tiling;
    const csrconv_geometry *g = &p->shape->g;
    csrconv_jit_print_divide(p, "first", "u", "block", t->row_tiles * t->column_tiles);
    csrconv_jit_print_divide(p, "y", "x", "u", t->column_tiles);
    say("mov.u32 image, first;\nmov.u32 slot, 0;\n");
    say("mul.lo.u32 y, y, %" PRId64 ";\nmul.lo.u32 x, x, %" PRId64 ";\n", t->rows, t->columns);
    print_first_input(p, "row", "y", g->stride_h, g->pad_top, g->height - t->stage_rows);
    print_first_input(p, "column", "x", g->stride_w, g->pad_left, g->width - t->stage_columns);
    say("min.u32 u, thread, %" PRId64 ";\n", t->span - 1);
    csrconv_jit_print_divide(p, "v", "u", "u", t->columns);
    say("add.u32 y, y, v;\nadd.u32 x, x, u;\n");
    say("setp.lt.u32 valid, thread, %" PRId64 ";\n", t->span);
    say("setp.lt.and.u32 valid, y, %" PRId64 ", valid;\n", p->shape->out_h);
    say("setp.lt.and.u32 valid, x, %" PRId64 ", valid;\n", p->shape->out_w);
    say("min.u32 y, y, %" PRId64 ";\nmin.u32 x, x, %" PRId64 ";\n", p->shape->out_h - 1,
        p->shape->out_w - 1);
}

/*
 * Two multiprocessors that share code take neighbouring blocks, which are best of one panel. Where
 * blocks are odd in number, the last of a panel is next to the last of another: those have less to
 * do.
 */
static void print_block(const struct printer *p)
{
    say("mov.u32 block, %%ctaid.x;\n");
    if (p->part->number / p->tiling->chunks % 2)
        say("mov.u32 t, %%nctaid.x;\nsub.u32 block, t, block;\nsub.u32 block, block, 1;\n");
}

/* Which output is the thread's; again before it is stored, since registers are few between. */
void csrconv_jit_print_output(const struct printer *p)
{
    say("mov.u32 thread, %%tid.x;\n");
    print_block(p);
    if (p->tiling->is_flat)
        print_flat_output(p);
    else
        print_tile_output(p);
}

/* The input under the window's (pad_top, pad_left) in the first stage, but for the image's shift.
 */
void csrconv_jit_print_place(const struct printer *p)
{
    const struct csrconv_jit_tiling *t = p->tiling;
    const csrconv_geometry *g = &p->shape->g;
    say("mul.lo.u32 place, y, %" PRId64 ";\nsub.u32 place, place, row;\n", g->stride_h);
    say("mul.lo.u32 place, place, %" PRId64 ";\n", t->row_pitch);
    say("mad.lo.u32 place, x, %" PRId64 ", place;\nsub.u32 place, place, column;\n", g->stride_w);
    say("mad.lo.u32 place, slot, %" PRId64 ", place;\n", t->slot_pitch);
    say("shl.b32 place, place, 2;\nadd.u32 place, place, base;\n");
}

/* A bit for each masked position: 1 where it lies in the image. */
void csrconv_jit_print_masks(const struct printer *p)
{
    const csrconv_geometry *g = &p->shape->g;
    const int64_t positions = csrconv_jit_positions(p->shape);
    int64_t bit = 0;
    for (int64_t i = 0; i < positions; i++) {
        if (!csrconv_jit_is_masked(p->shape, i))
            continue;
        if (bit % 32 == 0)
            say("mov.u32 mask%" PRId64 ", 0;\n", bit / 32);
        say("mul.lo.u32 t, y, %" PRId64 ";\nadd.s32 t, t, %" PRId64 ";\n", g->stride_h,
            i / g->kernel_w * g->dilation_h - g->pad_top);
        say("setp.lt.u32 p, t, %" PRId64 ";\n", g->height);
        say("mul.lo.u32 t, x, %" PRId64 ";\nadd.s32 t, t, %" PRId64 ";\n", g->stride_w,
            i % g->kernel_w * g->dilation_w - g->pad_left);
        say("setp.lt.and.u32 p, t, %" PRId64 ", p;\n", g->width);
        say("selp.u32 t, %" PRIu32 ", 0, p;\nor.b32 mask%" PRId64 ", mask%" PRId64 ", t;\n",
            UINT32_C(1) << bit % 32, bit / 32, bit / 32);
        bit++;
    }
}

/* at = out of the thread's output in the block's first filter, d = from there to the residual's. */
static void print_out_address(const struct printer *p)
{
    say("cvt.u64.u32 at, image;\nmul.lo.u64 at, at, %" PRId64 ";\n", p->shape->g.out_batch_stride);
    say("mad.lo.u32 t, y, %" PRId64 ", x;\ncvt.u64.u32 add, t;\nadd.s64 at, at, add;\n",
        p->shape->out_w);
    say("add.s64 at, at, %" PRId64 ";\nshl.b64 at, at, 2;\n",
        p->part->filter[first_filter(p, p->part->chunk)] * p->shape->out_plane);
    csrconv_jit_print_parameter(p, "add", PARAMETER_OUT);
    say("cvta.to.global.u64 add, add;\nadd.s64 at, at, add;\n");
    if (!p->problem->epilogue.residual)
        return;
    csrconv_jit_print_parameter(p, "d", PARAMETER_RESIDUAL);
    say("cvta.to.global.u64 d, d;\nsub.s64 d, d, add;\n");
}

/* sum = activation(sum + bias + residual) */
static void print_finish(const struct printer *p, int64_t sum, int64_t offset)
{
    const csrconv_epilogue *e = &p->problem->epilogue;
    float lo, hi;
    csrconv_activation_bounds(e, &lo, &hi);
    if (e->bias)
        say("add.f32 sum%" PRId64 ", sum%" PRId64 ", 0f%08" PRIX32 ";\n", sum, sum,
            bits_of(e->bias[p->part->filter[sum]]));
    if (e->residual)
        say("add.s64 add, at, d;\nld.global.f32 f, [add+%" PRId64 "];\n"
            "add.f32 sum%" PRId64 ", sum%" PRId64 ", f;\n",
            offset, sum, sum);
    if (lo > -(float)INFINITY)
        say("max.NaN.f32 sum%" PRId64 ", sum%" PRId64 ", 0f%08" PRIX32 ";\n", sum, sum,
            bits_of(lo));
    if (hi < (float)INFINITY)
        say("min.NaN.f32 sum%" PRId64 ", sum%" PRId64 ", 0f%08" PRIX32 ";\n", sum, sum,
            bits_of(hi));
}

static void print_store(const struct printer *p, int64_t sum, int64_t offset)
{
    const bool is_streaming = !p->problem->without.eviction;
    print_finish(p, sum, offset);
    say("st.global%s.f32 [at+%" PRId64 "], sum%" PRId64 "%s;\n",
        is_streaming ? ".L2::cache_hint" : "", offset, sum, is_streaming ? ", policy" : "");
}

/* Filters ascend; the address moves on where an instruction's offset would not hold the rest. */
static void print_filters(const struct printer *p, int64_t first, int64_t end)
{
    const int64_t farthest = 1 << 22, *filter = p->part->filter;
    int64_t base = 0;
    for (int64_t i = first; i < end; i++) {
        const int64_t offset = (filter[i] - filter[first]) * p->shape->out_plane * WORD;
        if (offset - base > farthest) {
            say("add.s64 at, at, %" PRId64 ";\n", offset - base);
            base = offset;
        }
        print_store(p, i, offset - base);
    }
}

void csrconv_jit_print_stores(const struct printer *p)
{
    const int64_t first = first_filter(p, p->part->chunk);
    const int64_t end = first_filter(p, p->part->chunk + 1);
    if (first == end)
        return;
    csrconv_jit_print_output(p);
    say("@!valid bra DONE;\n");
    print_out_address(p);
    if (!p->problem->without.eviction)
        say("createpolicy.fractional.L2::evict_first.b64 policy, 1.0;\n");
    print_filters(p, first, end);
    say("DONE:\n");
}
