/*
 * The code that cuda_jit makes is what the assembler takes, for every kind of tiling; needs
 * libnvJitLink, but no GPU.
 */
#include "exact_layer.h"

#include "integers.h"
#include "jit_build.h"
#include "jit_compile.h"
#include "jit_ptx.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 40, CAPABILITY = 90 };

static const struct csrconv_block_machine machine = { 132, 227 * 1024, 228 * 1024, 1.98 };

static bool is_cubin(const void *code, size_t bytes)
{
    return bytes > 4 && memcmp(code, "\177ELF", 4) == 0;
}

/* The number before `what` in a text. */
static int64_t number_before(const char *text, const char *what)
{
    const char *at = strstr(text, what);
    assert_non_null(at);
    while (at > text && (at[-1] == ' ' || (at[-1] >= '0' && at[-1] <= '9')))
        at--;
    return strtoll(at, NULL, 10);
}

struct choice {
    int64_t chunks;
    struct csrconv_jit_tiling best;
};

static void keep_best(void *context, const struct csrconv_jit_tiling *tiling)
{
    struct choice *choice = context;
    if (tiling->chunks == choice->chunks &&
        (choice->best.us == 0.0 || tiling->us < choice->best.us))
        choice->best = *tiling;
}

/* The best tiling of so many chunks; false if there is none. */
static bool choose(const struct csrconv_problem *problem, int64_t chunks,
                   struct csrconv_jit_tiling *tiling)
{
    struct choice choice = { .chunks = chunks };
    csrconv_jit_tiling_each(problem, &machine, keep_best, &choice);
    *tiling = choice.best;
    return choice.best.us > 0.0;
}

/* Assembles the last part; returns bytes that spill. */
static int64_t assemble_part(const struct csrconv_problem *problem,
                             const struct csrconv_jit_tiling *tiling)
{
    const int64_t registers = csrconv_jit_registers(tiling->threads / 32 * tiling->residents);
    const int64_t last = csrconv_jit_parts(&problem->shape, tiling) - 1;
    struct csrconv_memory memory;
    struct csrconv_jit_text text = { .memory = &memory };
    struct csrconv_jit_deal deal;
    struct csrconv_jit_part part;
    struct csrconv_jit_code code;
    char *log = NULL;
    int64_t spilled;
    assert_ok(csrconv_memory_init(&memory, NULL));
    assert_ok(csrconv_jit_deal_make(problem, tiling, &memory, &deal));
    assert_ok(csrconv_jit_part_make(problem, tiling, &deal, last, &memory, &part));
    csrconv_jit_ptx_begin(&text);
    csrconv_jit_ptx_part(problem, tiling, &part, &text);
    assert_ok(csrconv_jit_assemble(&text, CAPABILITY, registers, &memory, &code, &log));
    assert_true(is_cubin(code.bytes, code.size));
    spilled = number_before(log, " bytes spill stores");
    csrconv_release(&memory, log);
    csrconv_release(&memory, code.bytes);
    csrconv_jit_part_free(&memory, &part);
    csrconv_jit_deal_free(&memory, &deal);
    csrconv_jit_text_free(&text);
    return spilled;
}

static void every_tiling_is_assembled(void **state)
{
    struct random_state random;
    int64_t clusters = 0;
    (void)state;
    random_seed(&random, 3);
    for (int i = 0; i < ROUNDS; i++) {
        const int64_t chunks = 1 << i % 3;
        csrconv_geometry g = random_geometry(&random);
        csrconv_weights *weights;
        struct csrconv_problem problem = { 0 };
        struct csrconv_jit_tiling tiling;
        float *bias = test_calloc((size_t)g.filters, sizeof *bias);
        g.channels = csrconv_larger(g.channels, g.groups * chunks);
        problem.weights = weights = random_weights(&random, &g);
        assert_ok(csrconv_shape_init(&problem.shape, &g));
        problem.epilogue =
            (csrconv_epilogue){ random_below(&random, 2) ? bias : NULL,
                                (int)random_below(&random, 2),
                                (csrconv_activation)random_below(&random, 3), -1.0F, 6.0F };
        problem.without.eviction = random_below(&random, 4) == 0;
        if (choose(&problem, chunks, &tiling)) {
            assemble_part(&problem, &tiling);
            clusters += chunks > 1;
        }
        test_free(bias);
        csrconv_weights_destroy(&weights);
    }
    assert_true(clusters > ROUNDS / 2);
}

/* Pruned at random to that share. */
static csrconv_weights *pruned_weights(const csrconv_geometry *g, double zeros)
{
    const int64_t count = g->filters * g->channels / g->groups * g->kernel_h * g->kernel_w;
    float *dense = test_malloc((size_t)count * sizeof *dense);
    csrconv_weights *weights;
    fill_series(dense, count);
    assert_ok(csrconv_prune_random(dense, count, zeros, 1));
    assert_ok(csrconv_weights_from_dense(dense, g->filters, g->channels / g->groups, g->kernel_h,
                                         g->kernel_w, NULL, &weights));
    test_free(dense);
    return weights;
}

/* A word now and then would not matter; the estimate of the registers would be wrong, though. */
static void sums_stay_in_registers(void **state)
{
    csrconv_geometry g = geometry_of(64, 14, 14, 128, 3, 3);
    csrconv_weights *weights;
    struct csrconv_problem problem = { 0 };
    struct csrconv_jit_tiling tiling;
    const int64_t few = 400;
    (void)state;
    g.batch = 128;
    g.pad_top = g.pad_left = g.pad_bottom = g.pad_right = 1;
    weights = pruned_weights(&g, 0.9);
    problem.weights = weights;
    assert_ok(csrconv_shape_init(&problem.shape, &g));
    for (int64_t chunks = 1; chunks <= CSRCONV_JIT_MOST_CHUNKS; chunks *= 2) {
        assert_true(choose(&problem, chunks, &tiling));
        assert_in_range(assemble_part(&problem, &tiling), 0, few);
    }
    csrconv_weights_destroy(&weights);
}

static bool contains(const void *code, int64_t bytes, const char *word)
{
    const char *at = code;
    const size_t length = strlen(word);
    for (int64_t i = 0; i + (int64_t)length <= bytes; i++)
        if (memcmp(at + i, word, length) == 0)
            return true;
    return false;
}

/* Without a table of branches, which linked functions have been seen to read wrongly. */
static void link_units(const struct csrconv_problem *problem, int64_t chunks)
{
    struct csrconv_jit_tiling tiling;
    struct csrconv_memory memory;
    struct csrconv_jit_image *image;
    assert_ok(csrconv_memory_init(&memory, NULL));
    assert_true(choose(problem, chunks, &tiling));
    tiling.unit_parts = csrconv_jit_parts(&problem->shape, &tiling) / 2;
    assert_true(tiling.unit_parts > 4);
    assert_ok(csrconv_jit_build(problem, &tiling, CAPABILITY, &memory, &image));
    assert_true(is_cubin(image->code, (size_t)image->code_bytes));
    assert_true(contains(image->code, image->code_bytes, "csrconv_jit"));
    assert_false(contains(image->code, image->code_bytes, ".nv.constant2"));
    csrconv_release(&memory, image);
    assert_fails(csrconv_jit_build(problem, &tiling, 10, &memory, &image), CSRCONV_INTERNAL,
                 "sm_10");
    assert_null(image);
}

static void units_are_linked(void **state)
{
    csrconv_geometry g = geometry_of(8, 7, 7, 300, 1, 1);
    csrconv_weights *weights = weights_of(&g);
    struct csrconv_problem problem = { .weights = weights, .team = { .threads = 2 } };
    (void)state;
    assert_ok(csrconv_shape_init(&problem.shape, &g));
    for (int64_t chunks = 1; chunks <= CSRCONV_JIT_MOST_CHUNKS; chunks *= 2)
        link_units(&problem, chunks);
    csrconv_weights_destroy(&weights);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_tiling_is_assembled),
        cmocka_unit_test(sums_stay_in_registers),
        cmocka_unit_test(units_are_linked),
    };
    if (csrconv_jit_compiler()) {
        printf("skipped: %s\n", csrconv_last_error());
        return 0;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
