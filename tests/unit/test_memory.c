/* Memory: sizes that overflow, and that all of it goes through the caller's hooks. */
#include "helpers.h"

#include "memory.h"

#include <stdlib.h>

static void sizes_that_do_not_fit_are_out_of_memory(void **state)
{
    static const struct {
        int64_t count;
        size_t size;
    } cases[] = {
        { -1, 1 },          { INT64_MIN, 8 },
        { INT64_MAX, 2 },   { INT64_MAX / 4, 8 },
        { 2, PTRDIFF_MAX }, { 1, (size_t)PTRDIFF_MAX + 1 },
    };
    struct counted counted = { 0 };
    const csrconv_allocator hooks = counted_allocator(&counted);
    struct csrconv_memory memory;
    (void)state;
    assert_ok(csrconv_memory_init(&memory, &hooks));
    for (int i = 0; i < COUNT_OF(cases); i++) {
        void *block = &memory;
        assert_fails(csrconv_allocate(&memory, cases[i].count, cases[i].size, &block),
                     CSRCONV_OUT_OF_MEMORY, "do not fit into the address space");
        assert_null(block);
    }
    assert_int_equal(counted.allocations, 0);
    assert_int_equal(memory.bytes, 0);
}

static void what_is_not_there_is_told_in_bytes(void **state)
{
    struct counted counted = { .fail_at = 1 };
    const csrconv_allocator hooks = counted_allocator(&counted);
    struct csrconv_memory memory;
    void *block;
    (void)state;
    assert_ok(csrconv_memory_init(&memory, &hooks));
    assert_fails(csrconv_allocate(&memory, 100, 12, &block), CSRCONV_OUT_OF_MEMORY,
                 "no memory for 1200 bytes");
    assert_null(block);
    assert_int_equal(memory.bytes, 0);
}

/* The C library's: as much as there cannot be. */
static void the_standard_hooks_fail_softly(void **state)
{
    struct csrconv_memory memory;
    void *block;
    (void)state;
    assert_ok(csrconv_memory_init(&memory, NULL));
    assert_fails(csrconv_allocate(&memory, PTRDIFF_MAX / 8, 8, &block), CSRCONV_OUT_OF_MEMORY,
                 "no memory for");
    assert_fails(csrconv_allocate(&memory, PTRDIFF_MAX, 1, &block), CSRCONV_OUT_OF_MEMORY,
                 "no memory for");
}

static void blocks_are_aligned_and_counted(void **state)
{
    struct csrconv_memory memory;
    void *blocks[20];
    size_t bytes = 0;
    (void)state;
    assert_ok(csrconv_memory_init(&memory, NULL));
    for (int i = 0; i < COUNT_OF(blocks); i++) {
        assert_ok(csrconv_allocate(&memory, i, 12, &blocks[i])); /* 0 gives a block too */
        assert_non_null(blocks[i]);
        assert_int_equal((uintptr_t)blocks[i] % CSRCONV_ALIGNMENT, 0);
        bytes += i ? (size_t)i * 12 : 12;
    }
    assert_int_equal(memory.bytes, bytes);
    for (int i = 0; i < COUNT_OF(blocks); i++)
        csrconv_release(&memory, blocks[i]);
    csrconv_release(&memory, NULL);
}

/* From dense, from CSR, and a plan that is executed: nothing is left, nothing comes in between. */
static void all_memory_goes_through_the_hooks(const csrconv_algorithm *algorithm)
{
    struct counted of_weights = { 0 }, of_plan = { 0 };
    const csrconv_allocator weights_hooks = counted_allocator(&of_weights);
    const csrconv_allocator plan_hooks = counted_allocator(&of_plan);
    const csrconv_geometry g = geometry_of(3, 5, 5, 4, 3, 3);
    float dense[4 * 27], in[75], out[36], bias[4] = { 1, 2, 3, 4 };
    csrconv_weights *weights, *copy;
    csrconv_csr view;
    struct layer layer;
    fill_series(dense, COUNT_OF(dense));
    fill_series(in, COUNT_OF(in));
    csrconv_csr_init(&view);
    assert_ok(csrconv_weights_from_dense(dense, 4, 3, 3, 3, &weights_hooks, &weights));
    assert_int_equal(of_weights.live, of_weights.allocations);
    assert_ok(csrconv_weights_view(weights, &view));
    assert_ok(csrconv_weights_from_csr(&view, &weights_hooks, &copy));
    csrconv_weights_destroy(&weights);
    layer = layer_of(&g, copy, in);
    layer.options.allocator = &plan_hooks;
    layer.options.epilogue.bias = bias;
    layer_run(&layer, algorithm, out);
    assert_true(of_plan.allocations > 0);
    assert_int_equal(of_plan.live, 0);
    csrconv_weights_destroy(&copy);
    assert_int_equal(of_weights.live, 0);
    assert_false(of_weights.is_odd || of_plan.is_odd);
}

static void hooks_get_everything_back(void **state)
{
    (void)state;
    each_own_algorithm(all_memory_goes_through_the_hooks);
}

/* execute does not allocate: the hooks would fail it, and count it. */
static void execute_allocates_nothing(void **state)
{
    const csrconv_geometry g = geometry_of(3, 5, 5, 4, 3, 3);
    csrconv_weights *weights = weights_of(&g);
    float in[75], out[36];
    (void)state;
    fill_series(in, COUNT_OF(in));
    for (const csrconv_algorithm *const *a = csrconv_algorithms(); *a; a++) {
        struct counted counted = { 0 };
        const csrconv_allocator hooks = counted_allocator(&counted);
        csrconv_plan_options options;
        csrconv_plan_info info = { .struct_size = sizeof info };
        csrconv_plan *plan;
        void *workspace;
        if (!runs_on_cpu(*a))
            continue;
        csrconv_plan_options_init(&options);
        options.algorithm = info_of(*a).name;
        options.allocator = &hooks;
        assert_ok(csrconv_plan_create(weights, &g, &options, &plan));
        assert_ok(csrconv_plan_describe(plan, &info));
        workspace = aligned_alloc(64, info.workspace_bytes / 64 * 64 + 64);
        counted.fail_at = counted.allocations + 1;
        assert_ok(csrconv_execute(plan, 1, in, out, workspace, info.workspace_bytes, NULL));
        assert_int_equal(counted.allocations + 1, counted.fail_at);
        free(workspace);
        csrconv_plan_destroy(&plan);
        assert_int_equal(counted.live, 0);
    }
    csrconv_weights_destroy(&weights);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_that_do_not_fit_are_out_of_memory),
        cmocka_unit_test(what_is_not_there_is_told_in_bytes),
        cmocka_unit_test(the_standard_hooks_fail_softly),
        cmocka_unit_test(blocks_are_aligned_and_counted),
        cmocka_unit_test(hooks_get_everything_back),
        cmocka_unit_test(execute_allocates_nothing),
    };
    return cmocka_run_group_tests_name("memory", tests, NULL, NULL);
}
