#include "ptx_block.h"

#include "helpers.h"

#include <stdlib.h>
#include <string.h>

/* Until the thread waits or is done; a barrier that is not complete is tried again later. */
static void run_thread(struct block *b, struct thread *t)
{
    t->is_trying = false;
    while (!t->is_done && !t->is_waiting && !t->is_trying) {
        const struct ptx_instruction *c = &b->program->instructions[t->next++];
        if (c->predicate >= 0) {
            assert_true(t->is_set[c->predicate]);
            if ((t->value[c->predicate] != 0) == c->is_negated)
                continue;
        }
        c->opcode->run(b, t, c);
    }
}

static bool are_all_waiting(const struct block *b)
{
    for (int64_t i = 0; i < b->launch->threads; i++)
        if (!b->threads[i].is_waiting)
            return false;
    return true;
}

static int64_t count_done(const struct block *b)
{
    int64_t done = 0;
    for (int64_t i = 0; i < b->launch->threads; i++)
        done += b->threads[i].is_done;
    return done;
}

static void run_block(struct block *b)
{
    const int64_t most_turns = 10000; /* then threads wait for what never comes */
    int64_t turns = 0;
    while (count_done(b) < b->launch->threads) {
        assert_true(turns++ < most_turns);
        for (int64_t i = 0; i < b->launch->threads; i++)
            run_thread(b, &b->threads[i]);
        if (are_all_waiting(b))
            for (int64_t i = 0; i < b->launch->threads; i++)
                b->threads[i].is_waiting = false;
    }
    assert_int_equal(b->copy_count, 0);
}

void ptx_run(const struct ptx_program *program, const struct ptx_launch *launch)
{
    const size_t registers = (size_t)program->registers;
    struct block b = { .program = program, .launch = launch };
    b.threads = calloc((size_t)launch->threads, sizeof *b.threads);
    b.shared = aligned_alloc(128, (size_t)(launch->shared_bytes + 127) / 128 * 128);
    for (int64_t i = 0; i < launch->threads; i++) {
        b.threads[i].value = calloc(registers, sizeof(uint64_t));
        b.threads[i].is_set = calloc(registers, sizeof(bool));
    }
    for (b.number = 0; b.number < launch->panels * launch->blocks; b.number++) {
        memset(b.shared, 0xff, (size_t)launch->shared_bytes);
        b.barrier_count = 0;
        for (int64_t i = 0; i < launch->threads; i++) {
            struct thread *t = &b.threads[i];
            memset(t->is_set, 0, registers * sizeof(bool));
            *t = (struct thread){
                .next = program->entry, .id = i, .value = t->value, .is_set = t->is_set
            };
        }
        run_block(&b);
    }
    for (int64_t i = 0; i < launch->threads; i++) {
        free(b.threads[i].value);
        free(b.threads[i].is_set);
    }
    free(b.copies);
    free(b.shared);
    free(b.threads);
}
