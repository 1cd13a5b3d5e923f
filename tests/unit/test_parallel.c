/* The caller's parallel loop in place of OpenMP, and how work is cut. */
#include "helpers.h"

#include "team.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_INDICES = 4096, THREADS = 4 };

/* What a hook saw. */
struct hook {
    int64_t calls;
    int64_t indices;
};

typedef void (*index_task)(void *argument, int64_t index);

static void run_forward(void *context, int64_t count, index_task task, void *argument)
{
    struct hook *hook = context;
    hook->calls++;
    hook->indices += count;
    for (int64_t i = 0; i < count; i++)
        task(argument, i);
}

static void run_reverse(void *context, int64_t count, index_task task, void *argument)
{
    struct hook *hook = context;
    hook->calls++;
    hook->indices += count;
    for (int64_t i = count - 1; i >= 0; i--)
        task(argument, i);
}

/* One of THREADS threads: every THREADS-th index. */
struct share {
    index_task task;
    void *argument;
    int64_t first, count;
};

static void *run_share(void *argument)
{
    const struct share *share = argument;
    for (int64_t i = share->first; i < share->count; i += THREADS)
        share->task(share->argument, i);
    return NULL;
}

static void run_threads(void *context, int64_t count, index_task task, void *argument)
{
    struct hook *hook = context;
    pthread_t threads[THREADS];
    struct share shares[THREADS];
    hook->calls++;
    hook->indices += count;
    for (int i = 0; i < THREADS; i++) {
        shares[i] = (struct share){ task, argument, i, count };
        assert_int_equal(pthread_create(&threads[i], NULL, run_share, &shares[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
}

static const struct {
    void (*run)(void *, int64_t, index_task, void *);
    int threads;
} hooks[] = {
    { run_forward, 2 },  { run_reverse, 3 }, { run_threads, THREADS },
    { run_reverse, 64 }, { run_threads, 1 },
};

static void count_range(void *argument, int64_t begin, int64_t end)
{
    unsigned char *seen = argument;
    for (int64_t i = begin; i < end; i++)
        seen[i]++;
}

static void check_cover(const struct csrconv_team *team, int64_t count)
{
    unsigned char seen[MOST_INDICES] = { 0 };
    csrconv_team_run(team, count, count_range, seen);
    for (int64_t i = 0; i < MOST_INDICES; i++)
        assert_int_equal(seen[i], i < count);
}

static void work_is_covered_exactly_once(void **state)
{
    static const int64_t counts[] = { 0, 1, 2, 7, 8, 9, 63, 64, 65, 1000, MOST_INDICES };
    static const int threads[] = { 0, 1, 2, 3, 8, 4096 };
    struct csrconv_team team;
    (void)state;
    for (int c = 0; c < COUNT_OF(counts); c++) {
        for (int t = 0; t < COUNT_OF(threads) - 1; t++) {
            assert_ok(csrconv_team_init(&team, threads[t], NULL));
            check_cover(&team, counts[c]);
        }
        for (int h = 0; h < COUNT_OF(hooks); h++) {
            struct hook hook = { 0 };
            const csrconv_parallel parallel = { &hook, hooks[h].threads, hooks[h].run };
            assert_ok(csrconv_team_init(&team, 0, &parallel));
            check_cover(&team, counts[c]);
            assert_true(hook.indices <= counts[c]);
        }
    }
}

static void nothing_to_do_calls_nothing(void **state)
{
    struct hook hook = { 0 };
    const csrconv_parallel parallel = { &hook, 2, run_forward };
    struct csrconv_team team;
    (void)state;
    assert_ok(csrconv_team_init(&team, 0, &parallel));
    csrconv_team_run(&team, 0, count_range, NULL);
    csrconv_team_run(&team, -5, count_range, NULL);
    assert_int_equal(hook.calls, 0);
}

/* A hook gives the bits of one thread, is used, and need not outlive the options. */
static void hooks_run_plans(const csrconv_algorithm *algorithm)
{
    csrconv_geometry g = geometry_of(6, 9, 9, 10, 3, 3);
    float in[2 * 6 * 81], want[2 * 10 * 81], got[2 * 10 * 81];
    csrconv_weights *weights;
    struct layer layer;
    if (info_of(algorithm).device != CSRCONV_DEVICE_CPU)
        return;
    g.batch = 2;
    g.pad_top = g.pad_left = g.pad_bottom = g.pad_right = 1;
    weights = weights_of(&g);
    fill_series(in, COUNT_OF(in));
    layer = layer_of(&g, weights, in);
    layer.options.threads = 1;
    layer_run(&layer, algorithm, want);
    for (int h = 0; h < COUNT_OF(hooks); h++) {
        struct hook hook = { 0 };
        const csrconv_parallel parallel = { &hook, hooks[h].threads, hooks[h].run };
        layer.options.threads = 0;
        layer.options.parallel = &parallel;
        memset(got, 0xff, sizeof got);
        layer_run(&layer, algorithm, got);
        assert_memory_equal(got, want, sizeof got);
        assert_int_equal(hook.calls > 0, hooks[h].threads > 1); /* one thread is the caller's */
    }
    csrconv_weights_destroy(&weights);
}

static void the_hook_is_used_by_every_algorithm(void **state)
{
    (void)state;
    each_own_algorithm(hooks_run_plans);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(work_is_covered_exactly_once),
        cmocka_unit_test(nothing_to_do_calls_nothing),
        cmocka_unit_test(the_hook_is_used_by_every_algorithm),
    };
    return cmocka_run_group_tests_name("parallel", tests, NULL, NULL);
}
