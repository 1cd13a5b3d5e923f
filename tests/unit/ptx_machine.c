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

/* Each thread of the block as far as it comes. */
static void run_turn(struct block *b)
{
    for (int64_t i = 0; i < b->launch->threads; i++)
        run_thread(b, &b->threads[i]);
    if (b->waiting < b->launch->threads)
        return;
    for (int64_t i = 0; i < b->launch->threads; i++)
        b->threads[i].is_waiting = false;
    b->waiting = 0;
}

static int64_t count_blocks_done(const struct cluster *cluster, const struct ptx_launch *launch)
{
    int64_t done = 0;
    for (int64_t i = 0; i < launch->chunks; i++)
        done += cluster->blocks[i].done == launch->threads;
    return done;
}

/* A block as it begins. */
static void begin_block(struct block *b, int64_t number, int64_t panel)
{
    memset(b->shared, 0xff, (size_t)b->launch->shared_bytes);
    b->barrier_count = 0;
    b->waiting = b->done = 0;
    memset(b->begun, 0, sizeof b->begun);
    b->number = number;
    b->panel = panel;
    for (int64_t i = 0; i < b->launch->threads; i++) {
        struct thread *t = &b->threads[i];
        memset(t->is_set, 0, (size_t)b->program->registers * sizeof(bool));
        *t = (struct thread){
            .next = b->program->entry, .id = i, .value = t->value, .is_set = t->is_set
        };
    }
}

static void end_block(struct block *b)
{
    assert_int_equal(b->copy_count, 0);
    for (int i = 0; i < PTX_MOST_WARPS; i++)
        if (b->begun[i] > b->traffic->most_copies)
            b->traffic->most_copies = b->begun[i];
}

/* The block that comes first is another one each turn. */
static void run_cluster(struct cluster *cluster, const struct ptx_launch *launch)
{
    const int64_t most_turns = 10000; /* then threads wait for what never comes */
    int64_t turns = 0;
    while (count_blocks_done(cluster, launch) < launch->chunks) {
        assert_true(turns++ < most_turns);
        for (int64_t i = 0; i < launch->chunks; i++)
            run_turn(&cluster->blocks[(i + turns) % launch->chunks]);
    }
    for (int64_t i = 0; i < launch->chunks; i++)
        end_block(&cluster->blocks[i]);
}

static void make_block(struct block *b)
{
    const struct ptx_launch *launch = b->launch;
    const size_t registers = (size_t)b->program->registers;
    b->threads = calloc((size_t)launch->threads, sizeof *b->threads);
    b->shared = aligned_alloc(128, (size_t)(launch->shared_bytes + 127) / 128 * 128);
    for (int64_t i = 0; i < launch->threads; i++) {
        b->threads[i].value = calloc(registers, sizeof(uint64_t));
        b->threads[i].is_set = calloc(registers, sizeof(bool));
    }
}

static void free_block(struct block *b)
{
    for (int64_t i = 0; i < b->launch->threads; i++) {
        free(b->threads[i].value);
        free(b->threads[i].is_set);
    }
    free(b->copies);
    free(b->shared);
    free(b->threads);
}

void ptx_run(const struct ptx_program *program, const struct ptx_launch *launch,
             struct ptx_traffic *traffic)
{
    struct cluster cluster = { .arrived = 0 };
    assert_true(launch->chunks >= 1 && launch->chunks <= PTX_MOST_CLUSTER);
    for (int64_t i = 0; i < launch->chunks; i++) {
        cluster.blocks[i] = (struct block){
            .program = program, .launch = launch, .traffic = traffic, .cluster = &cluster, .rank = i
        };
        make_block(&cluster.blocks[i]);
    }
    for (int64_t number = 0; number < launch->panels * launch->blocks; number++) {
        for (int64_t i = 0; i < launch->chunks; i++)
            begin_block(&cluster.blocks[i], number % launch->blocks, number / launch->blocks);
        run_cluster(&cluster, launch);
    }
    for (int64_t i = 0; i < launch->chunks; i++)
        free_block(&cluster.blocks[i]);
}
