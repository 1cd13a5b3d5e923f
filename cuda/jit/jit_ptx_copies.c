/* What in a part's PTX brings inputs to shared memory. */
#include "jit_printer.h"

/* What of an entry of the table of copies is where: from, to, and how many bytes. */
enum { ENTRY = 16, ENTRY_TO = 8, ENTRY_BYTES = 12 };

/*
 * turn = the number of the copy that the thread begins. A warp begins its copies one after the
 * other, so they are dealt to all warps.
 */
static void print_turn(const struct printer *p)
{
    say("mov.u32 t, %%tid.x;\nshr.u32 u, t, 5;\nand.b32 t, t, 31;\nmad.lo.u32 turn, t, %" PRId64
        ", u;\n",
        p->tiling->threads / CSRCONV_LANES);
}

/* from = the floats before the first of an image's copies, of which `image` holds the number. */
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
    say("sub.u32 u, u, 1;\nadd.u32 t, first, turn;\nmin.u32 t, t, u;\n");
    print_image_source(p, "t");
    print_image_shift(p);
    say("mad.lo.u32 to, turn, %" PRId64 ", v;\n", p->tiling->slot_pitch * WORD);
}

/* A copy of some rows of a channel, or of a part of one row. */
static void print_line_copy(const struct printer *p)
{
    const struct csrconv_jit_tiling *t = p->tiling;
    const int64_t rows = t->stage_columns == p->shape->g.width ? 1 : t->stage_rows;
    print_image_source(p, "first");
    print_image_shift(p);
    csrconv_jit_print_divide(p, "t", "u", "turn", rows);
    say("mul.wide.u32 add, t, %" PRId64 ";\nadd.s64 from, from, add;\n", p->shape->plane * WORD);
    say("mul.wide.u32 add, u, %" PRId64 ";\nadd.s64 from, from, add;\n", p->shape->g.width * WORD);
    say("mad.lo.u32 to, t, %" PRId64 ", v;\n", t->channel_pitch * WORD);
    say("mad.lo.u32 to, u, %" PRId64 ", to;\n", t->row_pitch * WORD);
}

/* copied = the slot of the image that copy `turn` is of; channel = its channel, 0 if it has all. */
static void print_trimmed_turn(const struct printer *p)
{
    const int64_t channels = p->tiling->stage_channels, last = p->tiling->slots - 1;
    say("setp.lt.u32 p, turn, %" PRId64 ";\nsetp.lt.u32 q, turn, %" PRId64 ";\n", channels,
        2 * channels);
    say("sub.u32 copied, turn, %" PRId64 ";\nselp.u32 copied, %" PRId64 ", copied, q;\n"
        "selp.u32 copied, 0, copied, p;\n",
        2 * channels - 1, last);
    say("sub.u32 channel, turn, %" PRId64 ";\nselp.u32 channel, turn, channel, p;\n"
        "selp.u32 channel, channel, 0, q;\n",
        channels);
}

/*
 * begin, end = the block's lanes in the image of slot `copied`; end is 0 if there are none. No
 * block begins on idle lanes: it begins at a multiple of 32 lanes here, and where an image has idle
 * lanes they are less than 4, up to a multiple of 4.
 */
static void print_slot_lanes(const struct printer *p)
{
    const int64_t lanes = csrconv_jit_image_lanes(p->shape), plane = p->shape->out_plane;
    say("mul.lo.u32 t, block, %" PRId64 ";\n", p->tiling->span);
    csrconv_jit_print_divide(p, "v", "begin", "t", lanes);
    say("setp.ne.u32 p, copied, 0;\nselp.u32 begin, 0, begin, p;\n");
    csrconv_jit_print_parameter(p, "v", PARAMETER_IMAGES);
    say("mul.lo.u32 v, v, %" PRId64 ";\nadd.u32 t, t, %" PRId64 ";\nmin.u32 t, t, v;\n", lanes,
        p->tiling->span);
    say("add.u32 u, first, copied;\nmul.lo.u32 u, u, %" PRId64 ";\nsub.s32 end, t, u;\n", lanes);
    say("min.s32 end, end, %" PRId64 ";\nmax.s32 end, end, 0;\n", plane);
}

/* above = the first row that these lanes see, seen = how many rows. */
static void print_seen_rows(const struct printer *p)
{
    const csrconv_geometry *g = &p->shape->g;
    const int64_t reach = (g->kernel_h - 1) * g->dilation_h - g->pad_top;
    csrconv_jit_print_divide(p, "t", "u", "begin", p->shape->out_w);
    say("mul.lo.u32 t, t, %" PRId64 ";\nsub.s32 t, t, %" PRId64 ";\nmax.s32 above, t, 0;\n",
        g->stride_h, g->pad_top);
    say("max.s32 v, end, 1;\nsub.u32 v, v, 1;\n");
    csrconv_jit_print_divide(p, "t", "u", "v", p->shape->out_w);
    say("mul.lo.u32 t, t, %" PRId64 ";\nadd.s32 t, t, %" PRId64 ";\nmin.s32 t, t, %" PRId64 ";\n",
        g->stride_h, reach, g->height - 1);
    say("add.s32 t, t, 1;\nsub.s32 seen, t, above;\nmax.s32 seen, seen, 0;\n");
}

/*
 * Of the first and the last image that a block meets a channel's rows, of others all channels. The
 * 16 bytes at the ends of neighbouring channels' copies may be the same: both bring the same floats
 * of one image there, since in a slot distances are those in the input.
 */
static void print_trimmed_copy(const struct printer *p)
{
    const int64_t plane = p->shape->plane * WORD, row = p->shape->g.width * WORD;
    print_trimmed_turn(p);
    print_slot_lanes(p);
    print_seen_rows(p);
    say("setp.lt.u32 q, turn, %" PRId64 ";\n", 2 * p->tiling->stage_channels);
    say("mul.lo.u32 bytes, seen, %" PRId64 ";\nselp.u32 bytes, bytes, %" PRId64 ", q;\n", row,
        csrconv_jit_copies_of(p->shape, p->tiling, 0).words * WORD);
    say("setp.eq.u32 p, end, 0;\nselp.u32 bytes, 0, bytes, p;\n");
    say("mul.lo.u32 skipped, above, %" PRId64 ";\nselp.u32 skipped, skipped, 0, q;\n"
        "mad.lo.u32 skipped, channel, %" PRId64 ", skipped;\n",
        row, plane);
    say("add.u32 t, first, copied;\n");
    print_image_source(p, "t");
    print_image_shift(p);
    say("mad.lo.u32 to, copied, %" PRId64 ", v;\nadd.u32 to, to, skipped;\n",
        p->tiling->slot_pitch * WORD);
    say("cvt.u64.u32 add, skipped;\nadd.s64 from, from, add;\n");
}

/* The table of copies in the first stage, at the number of each. */
void csrconv_jit_print_table(const struct printer *p)
{
    print_turn(p);
    say("setp.ge.u32 p, turn, %" PRId64 ";\n@p bra LISTED;\n",
        csrconv_jit_copies_of(p->shape, p->tiling, 0).count);
    if (p->tiling->trims)
        print_trimmed_copy(p);
    else if (csrconv_jit_stages_planes(p->shape, p->tiling))
        print_plane_copy(p);
    else
        print_line_copy(p);
    say("add.u32 to, to, base;\nmad.lo.u32 t, turn, %d, base;\n", ENTRY);
    say("st.shared.u64 [t], from;\nst.shared.u32 [t+%d], to;\n", ENTRY_TO);
    if (p->tiling->trims)
        say("st.shared.u32 [t+%d], bytes;\n", ENTRY_BYTES);
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
    print_image_source(p, "image");
    print_image_shift(p);
    say("add.u32 place, place, v;\n");
}

/* head = words before the first whole 16 bytes of `from`, body = bytes of these, rest = words. */
static void print_copy_parts(const struct printer *p)
{
    say("shr.u32 rest, bytes, 2;\ncvt.u32.u64 head, from;\nshr.u32 head, head, 2;\n"
        "sub.u32 head, 0, head;\nand.b32 head, head, 3;\nmin.u32 head, head, rest;\n");
    say("sub.u32 body, rest, head;\nshl.b32 body, body, 2;\nand.b32 body, body, -16;\n");
    say("shr.u32 t, body, 2;\nsub.u32 rest, rest, t;\n");
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
static void print_exact_copy(const struct printer *p, int64_t stage)
{
    print_copy_parts(p);
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
static void print_wide_copy(const struct printer *p, int64_t stage)
{
    say("cvt.u32.u64 u, from;\nand.b32 u, u, 12;\nsub.u32 to, to, u;\n");
    say("add.u32 body, u, bytes;\nadd.u32 body, body, 15;\nand.b32 body, body, -16;\n");
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

/* bytes = what is left of a trimmed copy in a stage of fewer channels. */
static void print_fewer_channels(const struct printer *p, int64_t channels)
{
    const int64_t usual = p->tiling->stage_channels;
    say("setp.lt.u32 p, turn, %" PRId64 ";\nsub.u32 u, turn, %" PRId64
        ";\nselp.u32 u, turn, u, p;\n",
        usual, usual);
    say("setp.lt.u32 p, u, %" PRId64 ";\nselp.u32 u, bytes, 0, p;\n", channels);
    say("sub.s32 bytes, bytes, %" PRId64 ";\nmax.s32 bytes, bytes, 0;\n",
        (usual - channels) * p->shape->plane * WORD);
    say("setp.lt.u32 p, turn, %" PRId64 ";\nselp.u32 bytes, u, bytes, p;\n", 2 * usual);
}

/* bytes = what copy `turn` of a stage brings, whose entry is at t; whether that may be nothing. */
static bool print_bytes(const struct printer *p, int64_t stage)
{
    const struct csrconv_jit_copies c = csrconv_jit_copies_of(p->shape, p->tiling, stage);
    const struct csrconv_jit_copies usual = csrconv_jit_copies_of(p->shape, p->tiling, 0);
    if (p->tiling->trims) {
        say("ld.shared.u32 bytes, [t+%d];\n", ENTRY_BYTES);
        if (c.words < usual.words)
            print_fewer_channels(p, csrconv_jit_channels_of(p->shape, p->tiling, stage));
        return true;
    }
    say("mov.u32 bytes, %" PRId64 ";\n", c.words * WORD);
    if (c.count < usual.count)
        say("setp.lt.u32 p, turn, %" PRId64 ";\nselp.u32 bytes, bytes, 0, p;\n", c.count);
    return c.count < usual.count;
}

/* Begins the copies of a stage, each by the thread whose turn it is. */
void csrconv_jit_print_copies(const struct printer *p, int64_t stage)
{
    const int64_t arrivals = csrconv_jit_copies_of(p->shape, p->tiling, 0).count;
    print_turn(p);
    say("setp.ge.u32 p, turn, %" PRId64 ";\n@p bra BEGUN%" PRId64 ";\n", arrivals, stage);
    say("mad.lo.u32 t, turn, %d, base;\n", ENTRY);
    if (print_bytes(p, stage))
        say("setp.ne.u32 p, bytes, 0;\n@p bra COPY%" PRId64
            ";\nmbarrier.arrive.shared.b64 _, [base+%" PRId64 "];\nbra BEGUN%" PRId64
            ";\nCOPY%" PRId64 ":\n",
            stage, barrier_of(p, stage), stage, stage);
    say("ld.shared.u64 from, [t];\nld.shared.u32 to, [t+%d];\n", ENTRY_TO);
    say("add.s64 from, from, %" PRId64 ";\nadd.u32 to, to, %" PRId64 ";\n",
        stage * p->tiling->stage_channels * p->shape->plane * WORD, place_of(p, stage));
    if (is_at_end(p, stage))
        print_exact_copy(p, stage);
    else
        print_wide_copy(p, stage);
    say("BEGUN%" PRId64 ":\n", stage);
}
