#include "jit_ptx.h"

#include "divisor.h"
#include "epilogue.h"
#include "jit_positions.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* clang-format off */
#define say(...) csrconv_jit_print(p->text, __VA_ARGS__)
/* clang-format on */

enum { WORD = 4, BARRIER = 8 };

struct printer {
    const struct csrconv_problem *problem;
    const struct csrconv_shape *shape;
    const struct csrconv_jit_tiling *tiling;
    const struct csrconv_jit_panel *panel;
    struct csrconv_jit_turn turn;
    struct csrconv_jit_text *text;
};

static uint32_t bits_of(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* Of a stage's full barrier, from the begin of shared memory. */
static int64_t barrier_of(const struct printer *p, int64_t stage)
{
    return p->tiling->table_bytes + stage % p->tiling->ring * BARRIER;
}

/* Of a stage's words, if its first image is not shifted. */
static int64_t place_of(const struct printer *p, int64_t stage)
{
    const struct csrconv_jit_tiling *t = p->tiling;
    return t->header_bytes +
           (stage % t->ring * t->stage_words + csrconv_jit_shift(p->shape, t, stage)) * WORD;
}

static void print_registers(const struct printer *p)
{
    const int64_t masks = (csrconv_jit_count_masked(p->shape) + 31) / 32;
    const int64_t positions = csrconv_jit_positions(p->shape);
    const int64_t kept = csrconv_jit_keeps_registers(p->shape) ? positions : CSRCONV_JIT_GROUP;
    say(".reg .b32 thread, block, first, image, slot, y, x, row, column, place, base;\n"
        ".reg .b32 t, u, v, to, head, body, rest;\n"
        ".reg .b64 from, at, add, d, policy;\n"
        ".reg .pred p, q, valid, m<%d>;\n"
        ".reg .b32 mask<%" PRId64 ">;\n"
        ".reg .f32 in<%" PRId64 ">, sum<%" PRId64 ">, f;\n",
        CSRCONV_JIT_GROUP, masks + 1, kept, p->panel->filters);
}

/* quotient and rest, registers, of another register; the quotient's is neither of the others. */
static void print_divide(const struct printer *p, const char *quotient, const char *rest,
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
    const int64_t plane = p->shape->out_plane, span = p->tiling->span;
    say("mul.lo.u32 t, block, %" PRId64 ";\n", span);
    print_divide(p, "first", "u", "t", plane);
    say("add.u32 u, t, thread;\n");
    say("ld.param.u32 v, [images];\nmul.lo.u32 v, v, %" PRId64 ";\n", plane);
    say("setp.lt.u32 valid, thread, %" PRId64 ";\nsetp.lt.and.u32 valid, u, v, valid;\n", span);
    /* Threads beyond the last output do as the last one's does. */
    say("min.u32 u, thread, %" PRId64 ";\nadd.u32 u, u, t;\n", span - 1);
    say("sub.u32 v, v, 1;\nmin.u32 u, u, v;\n");
    print_divide(p, "image", "u", "u", plane);
    say("sub.u32 slot, image, first;\n");
    print_divide(p, "y", "x", "u", p->shape->out_w);
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
    print_divide(p, "first", "u", "block", t->row_tiles * t->column_tiles);
    print_divide(p, "y", "x", "u", t->column_tiles);
    say("mov.u32 image, first;\nmov.u32 slot, 0;\n");
    say("mul.lo.u32 y, y, %" PRId64 ";\nmul.lo.u32 x, x, %" PRId64 ";\n", t->rows, t->columns);
    print_first_input(p, "row", "y", g->stride_h, g->pad_top, g->height - t->stage_rows);
    print_first_input(p, "column", "x", g->stride_w, g->pad_left, g->width - t->stage_columns);
    say("min.u32 u, thread, %" PRId64 ";\n", t->span - 1);
    print_divide(p, "v", "u", "u", t->columns);
    say("add.u32 y, y, v;\nadd.u32 x, x, u;\n");
    say("setp.lt.u32 valid, thread, %" PRId64 ";\n", t->span);
    say("setp.lt.and.u32 valid, y, %" PRId64 ", valid;\n", p->shape->out_h);
    say("setp.lt.and.u32 valid, x, %" PRId64 ", valid;\n", p->shape->out_w);
    say("min.u32 y, y, %" PRId64 ";\nmin.u32 x, x, %" PRId64 ";\n", p->shape->out_h - 1,
        p->shape->out_w - 1);
}

/* Which output is the thread's; again before it is stored, since registers are few between. */
static void print_output(const struct printer *p)
{
    say("mov.u32 thread, %%tid.x;\nmov.u32 block, %%ctaid.x;\n");
    if (p->tiling->is_flat)
        print_flat_output(p);
    else
        print_tile_output(p);
}

/* The input under the window's (pad_top, pad_left) in the first stage, but for the table's shift.
 */
static void print_place(const struct printer *p)
{
    const struct csrconv_jit_tiling *t = p->tiling;
    const csrconv_geometry *g = &p->shape->g;
    say("mul.lo.u32 place, y, %" PRId64 ";\nsub.u32 place, place, row;\n", g->stride_h);
    say("mul.lo.u32 place, place, %" PRId64 ";\n", t->row_pitch);
    say("mad.lo.u32 place, x, %" PRId64 ", place;\nsub.u32 place, place, column;\n", g->stride_w);
    say("mad.lo.u32 place, slot, %" PRId64 ", place;\n", t->slot_pitch);
    say("shl.b32 place, place, 2;\nmov.u32 base, shared;\nadd.u32 place, place, base;\n");
}

/* A bit for each masked position: 1 where it lies in the image. */
static void print_masks(const struct printer *p)
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

/* from = the floats before the first image's copies, of which `image` holds the number. */
static void print_image_source(const struct printer *p, const char *image)
{
    const struct csrconv_shape *shape = p->shape;
    say("cvt.u64.u32 from, %s;\n", image);
    say("mul.lo.u64 from, from, %" PRId64 ";\nadd.s64 from, from, %" PRId64 ";\n",
        shape->g.in_batch_stride, p->panel->group * shape->group_channels * shape->plane);
    say("mul.wide.u32 add, row, %" PRId64 ";\nadd.s64 from, from, add;\n", shape->g.width);
    say("cvt.u64.u32 add, column;\nadd.s64 from, from, add;\n");
    say("shl.b64 from, from, 2;\nld.param.u64 add, [in];\ncvta.to.global.u64 add, add;\n"
        "add.s64 from, from, add;\n");
}

/* v = bytes of the shift that goes with `from`. */
static void print_image_shift(const struct printer *p)
{
    say("cvt.u32.u64 v, from;\nand.b32 v, v, 12;\n");
}

/* A copy of an image's planes: images beyond the last are copies of that. */
static void print_plane_copy(const struct printer *p)
{
    say("ld.param.u32 u, [images];\nsub.u32 u, u, 1;\nadd.u32 t, first, thread;\n"
        "min.u32 t, t, u;\n");
    print_image_source(p, "t");
    print_image_shift(p);
    say("mad.lo.u32 to, thread, %" PRId64 ", v;\n", p->tiling->slot_pitch * WORD);
}

/* A copy of some rows of a channel, or of a part of one row. */
static void print_line_copy(const struct printer *p)
{
    const struct csrconv_jit_tiling *t = p->tiling;
    const int64_t rows = t->stage_columns == p->shape->g.width ? 1 : t->stage_rows;
    print_image_source(p, "first");
    print_image_shift(p);
    print_divide(p, "t", "u", "thread", rows);
    say("mul.wide.u32 add, t, %" PRId64 ";\nadd.s64 from, from, add;\n", p->shape->plane * WORD);
    say("mul.wide.u32 add, u, %" PRId64 ";\nadd.s64 from, from, add;\n", p->shape->g.width * WORD);
    say("mad.lo.u32 to, t, %" PRId64 ", v;\n", t->channel_pitch * WORD);
    say("mad.lo.u32 to, u, %" PRId64 ", to;\n", t->row_pitch * WORD);
}

/* The table of copies in the first stage, from and to, by the thread of each one's number. */
static void print_table(const struct printer *p)
{
    say("setp.ge.u32 p, thread, %" PRId64 ";\n@p bra LISTED;\n",
        csrconv_jit_copies_of(p->shape, p->tiling, 0).count);
    if (csrconv_jit_stages_planes(p->shape, p->tiling))
        print_plane_copy(p);
    else
        print_line_copy(p);
    say("add.u32 to, to, base;\n");
    say("mad.lo.u32 t, thread, 16, base;\nst.shared.u64 [t], from;\nst.shared.u32 [t+8], to;\n");
    say("LISTED:\n");
}

/* An arrival of each thread that copies; and the shift of the thread's image. */
static void print_barriers(const struct printer *p)
{
    say("setp.ne.u32 p, thread, 0;\n@p bra READY;\n");
    for (int64_t i = 0; i < p->tiling->ring; i++)
        say("mbarrier.init.shared.b64 [base+%" PRId64 "], %" PRId64 ";\n", barrier_of(p, i),
            csrconv_jit_copies_of(p->shape, p->tiling, 0).count);
    say("fence.mbarrier_init.release.cluster;\nfence.proxy.async;\n");
    say("READY:\nbar.sync 0;\n");
    say("mad.lo.u32 t, slot, 16, base;\nld.shared.u64 from, [t];\n");
    print_image_shift(p);
    say("add.u32 place, place, v;\n");
}

/* head = words before the first whole 16 bytes of `from`, body = bytes of these, rest = words. */
static void print_copy_parts(const struct printer *p, int64_t words)
{
    say("cvt.u32.u64 head, from;\nshr.u32 head, head, 2;\nsub.u32 head, 0, head;\n"
        "and.b32 head, head, 3;\nmin.u32 head, head, %" PRId64 ";\n",
        words);
    say("sub.u32 body, %" PRId64 ", head;\nshl.b32 body, body, 2;\nand.b32 body, body, -16;\n",
        words);
    say("shr.u32 rest, body, 2;\nsub.u32 rest, %" PRId64 ", rest;\n", words);
}

/* Begins the copy of `body` bytes from and to the addresses in those registers. */
static void print_bulk_copy(const struct printer *p, int64_t stage, const char *from,
                            const char *to)
{
    const bool is_streaming = !p->problem->without.eviction;
    say("add.u32 t, base, %" PRId64 ";\n", barrier_of(p, stage));
    if (is_streaming)
        say("createpolicy.fractional.L2::evict_first.b64 policy, 1.0;\n");
    say("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes%s [%s], [%s], body, "
        "[t]%s;\n",
        is_streaming ? ".L2::cache_hint" : "", to, from, is_streaming ? ", policy" : "");
}

/* Words that are not in whole 16 bytes: one after the other, the last first. */
static void print_word_copies(const struct printer *p, int64_t stage)
{
    say("WORD%" PRId64 ":\n.pragma \"nounroll\";\nsetp.eq.u32 p, rest, 0;\n"
        "@p bra WORDS%" PRId64 ";\n",
        stage, stage);
    say("sub.u32 rest, rest, 1;\nshl.b32 t, rest, 2;\nsetp.lt.u32 q, rest, head;\n"
        "@!q add.u32 t, t, body;\n");
    say("add.u32 u, to, t;\ncvt.u64.u32 add, t;\nadd.s64 add, add, from;\n");
    say("cp.async.ca.shared.global [u], [add], 4;\nbra WORD%" PRId64 ";\nWORDS%" PRId64 ":\n",
        stage, stage);
}

/* A copy that reads nothing beyond its ends. */
static void print_exact_copy(const struct printer *p, int64_t stage, int64_t words)
{
    print_copy_parts(p, words);
    say("setp.eq.u32 p, body, 0;\n@p bra BODY%" PRId64 ";\n", stage);
    say("mbarrier.expect_tx.relaxed.cta.shared.b64 [base+%" PRId64 "], body;\n",
        barrier_of(p, stage));
    say("mad.lo.u32 u, head, 4, to;\nmad.wide.u32 add, head, 4, from;\n");
    print_bulk_copy(p, stage, "add", "u");
    say("BODY%" PRId64 ":\n", stage);
    print_word_copies(p, stage);
    say("cp.async.mbarrier.arrive.noinc.shared.b64 [base+%" PRId64 "];\n", barrier_of(p, stage));
}

/* One that takes the whole 16 bytes at its ends, which are the same image's. */
static void print_wide_copy(const struct printer *p, int64_t stage, int64_t words)
{
    say("cvt.u32.u64 u, from;\nand.b32 u, u, 12;\nsub.u32 to, to, u;\n");
    say("add.u32 body, u, %" PRId64 ";\nand.b32 body, body, -16;\n", words * WORD + 15);
    say("and.b64 from, from, -16;\n");
    say("mbarrier.arrive.expect_tx.shared.b64 _, [base+%" PRId64 "], body;\n",
        barrier_of(p, stage));
    print_bulk_copy(p, stage, "from", "to");
}

/* Whether the 16 bytes at the ends of a stage's copies may reach beyond the image. */
static bool is_at_end(const struct printer *p, int64_t stage)
{
    const int64_t reach = 3; /* words */
    const int64_t first =
        p->panel->group * p->shape->group_channels + stage * p->tiling->stage_channels;
    const int64_t end = first + csrconv_jit_channels_of(p->shape, p->tiling, stage);
    return first * p->shape->plane < reach ||
           (p->shape->g.channels - end) * p->shape->plane < reach;
}

/* Begins the copies of a stage, each by the thread of its number. */
static void print_copies(const struct printer *p, int64_t stage)
{
    const struct csrconv_jit_tiling *t = p->tiling;
    const struct csrconv_jit_copies c = csrconv_jit_copies_of(p->shape, t, stage);
    const int64_t arrivals = csrconv_jit_copies_of(p->shape, t, 0).count;
    say("mov.u32 t, %%tid.x;\nsetp.ge.u32 p, t, %" PRId64 ";\n@p bra BEGUN%" PRId64 ";\n", arrivals,
        stage);
    if (c.count < arrivals) {
        say("setp.lt.u32 p, t, %" PRId64 ";\n@p bra COPY%" PRId64 ";\n", c.count, stage);
        say("mbarrier.arrive.shared.b64 _, [base+%" PRId64 "];\nbra BEGUN%" PRId64 ";\nCOPY%" PRId64
            ":\n",
            barrier_of(p, stage), stage, stage);
    }
    say("mad.lo.u32 t, t, 16, base;\nld.shared.u64 from, [t];\nld.shared.u32 to, [t+8];\n");
    say("add.s64 from, from, %" PRId64 ";\nadd.u32 to, to, %" PRId64 ";\n",
        stage * t->stage_channels * p->shape->plane * WORD, place_of(p, stage));
    if (is_at_end(p, stage))
        print_exact_copy(p, stage, c.words);
    else
        print_wide_copy(p, stage, c.words);
    say("BEGUN%" PRId64 ":\n", stage);
}

/* The register of a position within its group. */
static int64_t input_of(const struct printer *p, int64_t position)
{
    return csrconv_jit_keeps_registers(p->shape) ? position : position % CSRCONV_JIT_GROUP;
}

/* Predicates of a group's masked positions, whose first bit is *bit; zeros where they are false. */
static void print_group(const struct printer *p, int64_t group, int64_t *bit)
{
    const int64_t first = group * CSRCONV_JIT_GROUP, positions = csrconv_jit_positions(p->shape);
    for (int64_t i = first; i < first + CSRCONV_JIT_GROUP && i < positions; i++) {
        if (!csrconv_jit_is_masked(p->shape, i))
            continue;
        say("and.b32 t, mask%" PRId64 ", %" PRIu32 ";\nsetp.ne.u32 m%" PRId64 ", t, 0;\n",
            *bit / 32, UINT32_C(1) << *bit % 32, i % CSRCONV_JIT_GROUP);
        if (!csrconv_jit_keeps_registers(p->shape))
            say("mov.f32 in%" PRId64 ", 0f00000000;\n", input_of(p, i));
        ++*bit;
    }
}

static void print_load(const struct printer *p, int64_t stage, const struct csrconv_jit_load *load)
{
    const int64_t input = input_of(p, load->position);
    if (csrconv_jit_is_masked(p->shape, load->position))
        say("@m%d ", load->position % CSRCONV_JIT_GROUP);
    say("ld.shared.f32 in%" PRId64 ", [place+%" PRId64 "];\n", input,
        place_of(p, stage) + (int64_t)load->offset * WORD);
    for (int64_t i = load->fma; i < load[1].fma; i++) {
        const struct csrconv_jit_fma *fma = &p->panel->fma[i];
        say("fma.rn.f32 sum%d, in%" PRId64 ", 0f%08" PRIX32 ", sum%d;\n", fma->sum, input,
            bits_of(fma->value), fma->sum);
    }
}

/* The loads of a group of positions; *since counts instructions since the last barrier. */
static void print_loads(const struct printer *p, int64_t stage, const int64_t *start,
                        int64_t *since)
{
    for (int64_t i = start[0]; i < start[1]; i++) {
        const struct csrconv_jit_load *load = &p->panel->load[i];
        const int64_t instructions = 1 + load[1].fma - load->fma;
        if (p->tiling->step && *since + instructions > p->tiling->step) {
            say("bar.sync 0;\n");
            *since = 0;
        }
        print_load(p, stage, load);
        *since += instructions;
    }
}

static void print_stage(const struct printer *p, int64_t stage)
{
    const int64_t ahead = csrconv_jit_ahead(p->tiling), groups = csrconv_jit_groups(p->shape);
    const int64_t *start = p->panel->start + stage * groups;
    int64_t bit = 0, since = 0;
    say("WAIT%" PRId64 ":\nmbarrier.try_wait.parity.shared.b64 p, [base+%" PRId64 "], %" PRId64
        ";\n@!p bra WAIT%" PRId64 ";\n",
        stage, barrier_of(p, stage), stage / p->tiling->ring % 2, stage);
    /* In step: so the warps share the code that streams by, and the stage before is done with. */
    say("bar.sync 0;\n");
    if (stage + ahead < p->tiling->stages)
        print_copies(p, stage + ahead);
    for (int64_t group = 0; group < groups; group++) {
        print_group(p, group, &bit);
        print_loads(p, stage, start + group, &since);
    }
}

static void print_sums_cleared(const struct printer *p)
{
    const int64_t positions = csrconv_jit_positions(p->shape);
    for (int64_t i = 0; i < p->panel->filters; i++)
        say("mov.f32 sum%" PRId64 ", 0f00000000;\n", i);
    for (int64_t i = 0; i < positions && csrconv_jit_keeps_registers(p->shape); i++)
        say("mov.f32 in%" PRId64 ", 0f00000000;\n", i);
}

/* at = out of the thread's output in the first filter, d = from there to the residual's. */
static void print_out_address(const struct printer *p)
{
    say("cvt.u64.u32 at, image;\nmul.lo.u64 at, at, %" PRId64 ";\n", p->shape->g.out_batch_stride);
    say("mad.lo.u32 t, y, %" PRId64 ", x;\ncvt.u64.u32 add, t;\nadd.s64 at, at, add;\n",
        p->shape->out_w);
    say("add.s64 at, at, %" PRId64 ";\nshl.b64 at, at, 2;\n",
        p->panel->filter[0] * p->shape->out_plane);
    say("ld.param.u64 add, [out];\ncvta.to.global.u64 add, add;\nadd.s64 at, at, add;\n");
    if (p->problem->epilogue.residual)
        say("ld.param.u64 d, [residual];\ncvta.to.global.u64 d, d;\nsub.s64 d, d, add;\n");
}

/* sum = activation(sum + bias + residual) */
static void print_finish(const struct printer *p, int64_t sum, int64_t offset)
{
    const csrconv_epilogue *e = &p->problem->epilogue;
    float lo, hi;
    csrconv_activation_bounds(e, &lo, &hi);
    if (e->bias)
        say("add.f32 sum%" PRId64 ", sum%" PRId64 ", 0f%08" PRIX32 ";\n", sum, sum,
            bits_of(e->bias[p->panel->filter[sum]]));
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
static void print_stores(const struct printer *p)
{
    const int64_t farthest = 1 << 22;
    int64_t base = 0;
    print_output(p);
    say("@!valid bra DONE;\n");
    print_out_address(p);
    if (!p->problem->without.eviction)
        say("createpolicy.fractional.L2::evict_first.b64 policy, 1.0;\n");
    for (int64_t i = 0; i < p->panel->filters; i++) {
        const int64_t offset =
            (p->panel->filter[i] - p->panel->filter[0]) * p->shape->out_plane * WORD;
        if (offset - base > farthest) {
            say("add.s64 at, at, %" PRId64 ";\n", offset - base);
            base = offset;
        }
        print_store(p, i, offset - base);
    }
    say("DONE:\n");
}

void csrconv_jit_ptx_begin(const struct csrconv_jit_tiling *tiling, int64_t panels,
                           struct csrconv_jit_text *text)
{
    const struct printer printer = { .tiling = tiling, .text = text };
    const struct printer *p = &printer;
    say(".version 8.0\n.target sm_90\n.address_size 64\n"
        ".extern .shared .align 128 .b8 shared[];\n"
        ".visible .entry csrconv_jit(.param .u64 in, .param .u64 out, .param .u64 residual,\n"
        "    .param .u32 images)\n");
    say(".maxntid %" PRId64 ", 1, 1\n.minnctapersm %" PRId64 "\n{\n", tiling->threads,
        tiling->residents);
    say(".reg .b32 panel;\n.reg .pred is_panel;\nmov.u32 panel, %%ctaid.y;\n");
    for (int64_t i = 1; i < panels; i++)
        say("setp.eq.u32 is_panel, panel, %" PRId64 ";\n@is_panel bra PANEL%" PRId64 ";\n", i, i);
}

void csrconv_jit_ptx_panel(const struct csrconv_problem *problem,
                           const struct csrconv_jit_tiling *tiling,
                           const struct csrconv_jit_panel *panel, int64_t number,
                           struct csrconv_jit_turn turn, struct csrconv_jit_text *text)
{
    const struct printer printer = { problem, &problem->shape, tiling, panel, turn, text };
    const struct printer *p = &printer;
    const int64_t ahead = csrconv_jit_ahead(tiling);
    say("PANEL%" PRId64 ":\n{\n", number);
    print_registers(p);
    if (!turn.is_last)
        say("griddepcontrol.launch_dependents;\n");
    print_output(p);
    print_place(p);
    print_masks(p);
    print_table(p);
    print_barriers(p);
    for (int64_t stage = 0; stage < ahead; stage++)
        print_copies(p, stage);
    print_sums_cleared(p);
    for (int64_t stage = 0; stage < tiling->stages; stage++)
        print_stage(p, stage);
    print_stores(p);
    if (!turn.is_first)
        say("griddepcontrol.wait;\n");
    say("ret;\n}\n");
}

void csrconv_jit_ptx_end(struct csrconv_jit_text *text)
{
    csrconv_jit_print(text, "}\n");
}
