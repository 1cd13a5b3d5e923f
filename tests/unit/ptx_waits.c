/* What instructions that copy in the background, and that wait, do. */
#include "ptx_execute.h"

INSTRUCTION(wait_for_all)
{
    (void)c;
    t->is_waiting = true;
    b->waiting++;
}

INSTRUCTION(barrier_init)
{
    ptx_make_barrier(b, IN(0), LOW(1));
}

INSTRUCTION(barrier_arrive)
{
    ptx_arrive(ptx_barrier_at(b, IN(1)));
}

INSTRUCTION(barrier_expect)
{
    ptx_barrier_at(b, IN(0))->bytes += LOW(1);
}

INSTRUCTION(barrier_arrive_expecting)
{
    struct barrier *barrier = ptx_barrier_at(b, IN(1));
    barrier->bytes += LOW(2);
    ptx_arrive(barrier);
}

INSTRUCTION(barrier_try)
{
    struct barrier *barrier = ptx_barrier_at(b, IN(1));
    assert_true(LOW(2) <= 1);
    ptx_end_copies(b, (int)(barrier - b->barriers));
    t->is_trying = (uint32_t)(barrier->phase & 1) == LOW(2);
    OUT(!t->is_trying);
}

INSTRUCTION(copy_bulk)
{
    const int64_t bytes = LOW(2);
    const uint64_t from = IN(1);
    assert_true(t->may_go_on);
    assert_true(bytes > 0 && bytes % 16 == 0 && from % 16 == 0 && LOW(0) % 16 == 0);
    b->begun[t->id / 32]++;
    ptx_begin_copy(b, &(struct copy){ .from = ptx_input_at(b, from, bytes),
                                      .to = (int64_t)LOW(0),
                                      .bytes = bytes,
                                      .thread = -1,
                                      .barrier = (int)(ptx_barrier_at(b, IN(3)) - b->barriers) });
}

INSTRUCTION(copy_word)
{
    assert_true(t->may_go_on);
    assert_int_equal(IN(2), 4);
    ptx_begin_copy(b, &(struct copy){ .from = ptx_input_at(b, IN(1), 4),
                                      .to = (int64_t)LOW(0),
                                      .bytes = 4,
                                      .thread = t->id,
                                      .barrier = -1 });
}

/* After the words that the thread has begun to copy. */
INSTRUCTION(arrive_after_words)
{
    const int barrier = (int)(ptx_barrier_at(b, IN(0)) - b->barriers);
    for (int64_t i = 0; i < b->copy_count; i++)
        if (b->copies[i].thread == t->id && b->copies[i].barrier < 0)
            b->copies[i].barrier = barrier;
    ptx_begin_copy(b, &(struct copy){ .thread = t->id, .barrier = barrier });
}

INSTRUCTION(cluster_arrive)
{
    struct cluster *cluster = b->cluster;
    (void)c;
    assert_false(t->has_arrived);
    t->has_arrived = true;
    t->phase = cluster->phase;
    if (++cluster->arrived == b->launch->chunks * b->launch->threads) {
        cluster->arrived = 0;
        cluster->phase++;
    }
}

INSTRUCTION(cluster_wait)
{
    assert_true(t->has_arrived);
    t->is_trying = t->phase == b->cluster->phase;
    if (t->is_trying)
        t->next = c - b->program->instructions;
    else
        t->knows_cluster = true;
    t->has_arrived = t->is_trying;
}

INSTRUCTION(map_address)
{
    const uint32_t rank = LOW(2);
    assert_true(rank < b->launch->chunks && LOW(1) < PTX_WINDOW);
    OUT(LOW(1) + (rank + 1) * PTX_WINDOW);
}

/* Words for another block's shared memory, the last operand its barrier that counts them. */
static void give(struct block *b, struct thread *t, const struct ptx_instruction *c, int count)
{
    const uint32_t to = LOW(0), barrier = LOW(count + 1);
    struct copy copy = { .to = to % PTX_WINDOW, .bytes = count * 4, .thread = -1 };
    struct block *taker = &b->cluster->blocks[to / PTX_WINDOW - 1];
    assert_true(to >= PTX_WINDOW && barrier / PTX_WINDOW == to / PTX_WINDOW);
    assert_true(t->knows_cluster);
    assert_int_equal(taker->done, 0);
    for (int i = 0; i < count; i++)
        copy.words[i] = LOW(i + 1);
    copy.barrier = (int)(ptx_barrier_at(taker, barrier % PTX_WINDOW) - taker->barriers);
    ptx_begin_copy(taker, &copy);
}

INSTRUCTION(give_word)
{
    give(b, t, c, 1);
}

INSTRUCTION(give_quad)
{
    give(b, t, c, 4);
}

const struct ptx_opcode ptx_waiting_opcodes[] = {
    { "bar.sync", wait_for_all },
    { "mbarrier.init.shared.b64", barrier_init },
    { "mbarrier.arrive.shared.b64", barrier_arrive },
    { "mbarrier.expect_tx.relaxed.cta.shared.b64", barrier_expect },
    { "mbarrier.arrive.expect_tx.shared.b64", barrier_arrive_expecting },
    { "mbarrier.try_wait.parity.shared.b64", barrier_try },
    { "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes", copy_bulk },
    { "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint",
      copy_bulk },
    { "cp.async.ca.shared.global", copy_word },
    { "barrier.cluster.arrive.relaxed.aligned", cluster_arrive },
    { "barrier.cluster.wait.aligned", cluster_wait },
    { "mapa.shared::cluster.u32", map_address },
    { "st.async.shared::cluster.mbarrier::complete_tx::bytes.f32", give_word },
    { "st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.f32", give_quad },
    { "cp.async.mbarrier.arrive.noinc.shared.b64", arrive_after_words },
};

const int64_t ptx_waiting_opcode_count = COUNT_OF(ptx_waiting_opcodes);
