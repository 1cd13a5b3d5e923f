/* Each allocation in turn fails: every create function says so, leaks nothing and makes nothing. */
#include "helpers.h"

#include "algorithm.h"

#include <string.h>

enum { MOST_ALLOCATIONS = 1000 };

/* A call that creates an object with these hooks; *out is whether there is one, which it destroys.
 */
typedef csrconv_status (*creation)(const csrconv_allocator *hooks, const void *from, bool *out);

/* Fails the first, the second, ... allocation of the creation until none is left to fail. */
static void fail_each(creation create, const void *from)
{
    csrconv_status status = CSRCONV_OUT_OF_MEMORY;
    int64_t k = 0;
    while (status && k < MOST_ALLOCATIONS) {
        struct counted counted = { .fail_at = ++k };
        const csrconv_allocator hooks = counted_allocator(&counted);
        bool out;
        status = create(&hooks, from, &out);
        if (status)
            assert_fails(status, CSRCONV_OUT_OF_MEMORY, "no memory for");
        assert_int_equal(out, status == CSRCONV_OK);
        assert_int_equal(counted.live, 0);
        assert_int_equal(counted.allocations >= k, status != CSRCONV_OK);
    }
    assert_ok(status);
    assert_true(k > 1);
}

static csrconv_status create_from_dense(const csrconv_allocator *hooks, const void *from, bool *out)
{
    csrconv_weights *weights = (csrconv_weights *)&weights;
    const csrconv_status status = csrconv_weights_from_dense(from, 3, 2, 3, 3, hooks, &weights);
    *out = weights != NULL;
    csrconv_weights_destroy(&weights);
    return status;
}

static csrconv_status create_from_csr(const csrconv_allocator *hooks, const void *from, bool *out)
{
    csrconv_weights *weights = (csrconv_weights *)&weights;
    const csrconv_status status = csrconv_weights_from_csr(from, hooks, &weights);
    *out = weights != NULL;
    csrconv_weights_destroy(&weights);
    return status;
}

/* What a plan is made from. */
struct source {
    const csrconv_weights *weights;
    csrconv_geometry geometry;
    csrconv_plan_options options;
};

static csrconv_status create_plan(const csrconv_allocator *hooks, const void *from, bool *out)
{
    const struct source *source = from;
    csrconv_plan_options options = source->options;
    csrconv_plan *plan = (csrconv_plan *)&plan;
    csrconv_status status;
    options.allocator = hooks;
    status = csrconv_plan_create(source->weights, &source->geometry, &options, &plan);
    *out = plan != NULL;
    csrconv_plan_destroy(&plan);
    return status;
}

static void weights_fail_cleanly(void **state)
{
    float dense[54], kept[54];
    csrconv_weights *weights;
    csrconv_csr csr;
    (void)state;
    fill_series(dense, 54);
    memcpy(kept, dense, sizeof dense);
    fail_each(create_from_dense, dense);
    assert_memory_equal(dense, kept, sizeof dense);
    csrconv_csr_init(&csr);
    assert_ok(csrconv_weights_from_dense(dense, 3, 2, 3, 3, NULL, &weights));
    assert_ok(csrconv_weights_view(weights, &csr));
    fail_each(create_from_csr, &csr);
    csrconv_weights_destroy(&weights);
}

static void plans_fail_cleanly(const csrconv_algorithm *algorithm)
{
    const float bias[5] = { 1, 2, 3, 4, 5 };
    const csrconv_algorithm *const only[] = { algorithm, NULL };
    struct source source = { .geometry = geometry_of(4, 8, 9, 5, 3, 3) };
    csrconv_weights *weights;
    source.geometry.pad_top = 1;
    weights = weights_of(&source.geometry);
    source.weights = weights;
    csrconv_plan_options_init(&source.options);
    source.options.algorithm = info_of(algorithm).name;
    source.options.peers = only;
    fail_each(create_plan, &source);
    source.options.epilogue.bias = bias;
    fail_each(create_plan, &source);
    csrconv_weights_destroy(&weights);
}

static void plans_of_own_algorithms_fail_cleanly(void **state)
{
    (void)state;
    each_own_algorithm(plans_fail_cleanly);
}

static void plans_of_peers_fail_cleanly(void **state)
{
    (void)state;
    for (const csrconv_algorithm *const *a = csrconv_peer_table; *a; a++)
        if (runs_here(*a))
            plans_fail_cleanly(*a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weights_fail_cleanly),
        cmocka_unit_test(plans_of_own_algorithms_fail_cleanly),
        cmocka_unit_test(plans_of_peers_fail_cleanly),
    };
    return cmocka_run_group_tests_name("alloc_fail", tests, NULL, NULL);
}
