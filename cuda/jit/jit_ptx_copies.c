/* What in a part's PTX brings inputs to shared memory. */
#include "jit_printer.h"

/* from = the floats before the first image's copies, of which `image` holds the number. */
static void print_image_source(const struct printer *p, const char *image)
{
    const struct csrconv_shape *shape = p->shape;
    say("cvt.u64.u32 from, %s;\n", image);
    say("mul.lo.u64 from, from, %" PRId64 ";\nadd.s64 from, from, %" PRId64 ";\n",
        shape->g.in_batch_stride, p->part->group * shape->group_channels * shape->plane);
    say("mul.wide.u32 add, row, %" PRId64 ";\nadd.s64 from, from, add;\n", shape->g.width);
    say("cvt.u64.u32 add, column;\nadd.s64 from, from, add;\n");
    csrconv_jit_print_parameter(p, "add", PARAMETER_IN);
    say("shl.b64 from, from, 2;\ncvta.to.global.u64 add, add;\nadd.s64 from, from, add;\n");
}

/* v = bytes of the shift that goes with `from`. */
static void print_image_shift(const struct printer *p)
{
    say("cvt.u32.u64 v, from;\nand.b32 v, v, 12;\n");
}

/* A copy of an image's planes: images beyond the last are copies of that. */
static void print_plane_copy(const struct printer *p)
{
    csrconv_jit_print_parameter(p, "u", PARAMETER_IMAGES);
    say("sub.u32 u, u, 1;\nadd.u32 t, first, thread;\nmin.u32 t, t, u;\n");
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
    csrconv_jit_print_divide(p, "t", "u", "thread", rows);
    say("mul.wide.u32 add, t, %" PRId64 ";\nadd.s64 from, from, add;\n", p->shape->plane * WORD);
    say("mul.wide.u32 add, u, %" PRId64 ";\nadd.s64 from, from, add;\n", p->shape->g.width * WORD);
    say("mad.lo.u32 to, t, %" PRId64 ", v;\n", t->channel_pitch * WORD);
    say("mad.lo.u32 to, u, %" PRId64 ", to;\n", t->row_pitch * WORD);
}

/* The table of copies in the first stage, from and to, by the thread of each one's number. */
void csrconv_jit_print_table(const struct printer *p)
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

/*
 * An arrival of each thread that copies; and the shift of the thread's image. Blocks of a cluster
 * tell one another that they expect sums.
 */
void csrconv_jit_print_barriers(const struct printer *p)
{
    say("setp.ne.u32 p, thread, 0;\n@p bra READY;\n");
    for (int64_t i = 0; i < p->tiling->ring; i++)
        say("mbarrier.init.shared.b64 [base+%" PRId64 "], %" PRId64 ";\n", barrier_at(p, i),
            csrconv_jit_copies_of(p->shape, p->tiling, 0).count);
    if (p->tiling->chunks > 1)
        csrconv_jit_print_expected(p);
    say("fence.mbarrier_init.release.cluster;\nfence.proxy.async;\n");
    say("READY:\nbar.sync 0;\n");
    if (p->tiling->chunks > 1)
        say("barrier.cluster.arrive.relaxed.aligned;\n");
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
        p->part->group * p->shape->group_channels + stage * p->tiling->stage_channels;
    const int64_t end = first + csrconv_jit_channels_of(p->shape, p->tiling, stage);
    return first * p->shape->plane < reach ||
           (p->shape->g.channels - end) * p->shape->plane < reach;
}

/* Begins the copies of a stage, each by the thread of its number. */
void csrconv_jit_print_copies(const struct printer *p, int64_t stage)
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
