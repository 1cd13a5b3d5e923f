/*
 * What in a part's PTX adds the sums of a cluster's blocks. Each block adds some of the panel's
 * filters, always in the order of the chunks, so that results are the same bit for bit. The others
 * give it theirs by asynchronous stores into its shared memory, which a barrier there counts:
 * neither a fence nor a second meeting of the cluster is needed, and no block can leave before it
 * has all. They lie behind the stages, so they may come while a stage is still read: four filters
 * of a thread together, those of all threads one after the other, and so the rest one by one.
 */
#include "jit_printer.h"

enum { QUAD = 4 };

/* Which of the givers to that chunk's block another chunk's is. */
static int64_t giver_of(int64_t chunk, int64_t to)
{
    return chunk < to ? chunk : chunk - 1;
}

/* From the begin of shared memory: what a chunk's block gives to that of another. */
static int64_t area_of(const struct printer *p, int64_t from, int64_t to)
{
    const struct csrconv_jit_tiling *t = p->tiling;
    return t->header_bytes + t->ring * t->stage_words * WORD +
           giver_of(from, to) * csrconv_jit_given(t, count_filters(p, to));
}

void csrconv_jit_print_expected(const struct printer *p)
{
    const struct csrconv_jit_tiling *t = p->tiling;
    const int64_t own = count_filters(p, p->part->chunk);
    const int64_t barrier = barrier_at(p, t->ring);
    if (!own)
        return;
    say("mbarrier.init.shared.b64 [base+%" PRId64 "], 1;\n", barrier);
    say("mov.u32 t, %" PRId64 ";\nmbarrier.arrive.expect_tx.shared.b64 _, [base+%" PRId64 "], t;\n",
        (t->chunks - 1) * csrconv_jit_given(t, own), barrier);
}

/* quad, word = where the thread's four sums or one are, in this block's memory. */
static void print_places(const struct printer *p)
{
    say("mov.u32 t, %%tid.x;\nmad.lo.u32 quad, t, %d, base;\nmad.lo.u32 word, t, %d, base;\n",
        QUAD * WORD, WORD);
}

/* Gives the block of chunk `to` the sums of the filters that it adds. */
static void print_given(const struct printer *p, int64_t to)
{
    const int64_t first = first_filter(p, to), count = count_filters(p, to);
    const int64_t area = area_of(p, p->part->chunk, to);
    int64_t i = 0;
    say("mapa.shared::cluster.u32 u, quad, %" PRId64 ";\nmapa.shared::cluster.u32 v, word, %" PRId64
        ";\n",
        to, to);
    say("add.u32 t, base, %" PRId64 ";\nmapa.shared::cluster.u32 t, t, %" PRId64 ";\n",
        barrier_at(p, p->tiling->ring), to);
    for (; i + QUAD <= count; i += QUAD)
        say("st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.f32 [u+%" PRId64
            "], {sum%" PRId64 ", sum%" PRId64 ", sum%" PRId64 ", sum%" PRId64 "}, [t];\n",
            area + csrconv_jit_given(p->tiling, i), first + i, first + i + 1, first + i + 2,
            first + i + 3);
    for (; i < count; i++)
        say("st.async.shared::cluster.mbarrier::complete_tx::bytes.f32 [v+%" PRId64 "], sum%" PRId64
            ", [t];\n",
            area + csrconv_jit_given(p->tiling, i), first + i);
}

/* Loads what a chunk's block gave for filters from the block's i-th on, four or one. */
static void print_taken(const struct printer *p, int64_t from, int64_t i, int64_t count,
                        const char *to)
{
    const int64_t at = area_of(p, from, p->part->chunk) + csrconv_jit_given(p->tiling, i);
    if (count == QUAD)
        say("ld.shared.v4.f32 {%s0, %s1, %s2, %s3}, [quad+%" PRId64 "];\n", to, to, to, to, at);
    else
        say("ld.shared.f32 %s0, [word+%" PRId64 "];\n", to, at);
}

/* Of so many filters from the block's i-th on: sum = what all chunks have, in their order. */
static void print_added(const struct printer *p, int64_t i, int64_t count)
{
    const int64_t own = p->part->chunk, sum = first_filter(p, own) + i;
    if (own > 0)
        print_taken(p, 0, i, count, "total");
    for (int64_t from = 1; from < p->tiling->chunks; from++) {
        if (from != own)
            print_taken(p, from, i, count, "given");
        for (int64_t j = 0; j < count; j++)
            if (from < own)
                say("add.f32 total%" PRId64 ", total%" PRId64 ", given%" PRId64 ";\n", j, j, j);
            else if (from == own)
                say("add.f32 sum%" PRId64 ", total%" PRId64 ", sum%" PRId64 ";\n", sum + j, j,
                    sum + j);
            else
                say("add.f32 sum%" PRId64 ", sum%" PRId64 ", given%" PRId64 ";\n", sum + j, sum + j,
                    j);
    }
}

void csrconv_jit_print_exchange(const struct printer *p)
{
    const int64_t own = p->part->chunk, count = count_filters(p, own);
    print_places(p);
    /* All blocks of the cluster have begun, and expect something. */
    say("barrier.cluster.wait.aligned;\n");
    for (int64_t to = 0; to < p->tiling->chunks; to++)
        if (to != own && count_filters(p, to))
            print_given(p, to);
    if (!count)
        return;
    say("GIVEN:\nmbarrier.try_wait.parity.shared.b64 p, [base+%" PRId64 "], 0;\n@!p bra GIVEN;\n",
        barrier_at(p, p->tiling->ring));
    for (int64_t i = 0; i < count;) {
        const int64_t some = count - i < QUAD ? 1 : QUAD;
        print_added(p, i, some);
        i += some;
    }
}
