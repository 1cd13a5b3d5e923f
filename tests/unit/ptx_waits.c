/* What instructions that copy in the background, and that wait, do. */
#include "ptx_execute.h"

INSTRUCTION(wait_for_all)
{
    (void)b;
    (void)c;
    t->is_waiting = true;
}

INSTRUCTION(barrier_init)
{
    const int64_t count = LOW(1);
    assert_true(b->barrier_count < MOST_BARRIERS && count > 0);
    ptx_shared_at(b, IN(0), 8);
    b->barriers[b->barrier_count++] =
        (struct barrier){ .address = (int64_t)IN(0), .count = count, .pending = count };
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
    assert_true(bytes > 0 && bytes % 16 == 0 && from % 16 == 0 && LOW(0) % 16 == 0);
    ptx_begin_copy(b, &(struct copy){ .from = ptx_input_at(b, from, bytes),
                                      .to = (int64_t)LOW(0),
                                      .bytes = bytes,
                                      .thread = -1,
                                      .barrier = (int)(ptx_barrier_at(b, IN(3)) - b->barriers) });
}

INSTRUCTION(copy_word)
{
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
    { "cp.async.mbarrier.arrive.noinc.shared.b64", arrive_after_words },
};

const int64_t ptx_waiting_opcode_count = COUNT_OF(ptx_waiting_opcodes);
