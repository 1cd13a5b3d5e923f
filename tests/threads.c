/*
 * One plan executed from several threads at once, each with its own workspace and output, for every
 * CPU algorithm of csrconv's own: on its own threads, and on those of a caller's parallel loop.
 *
 * ThreadSanitizer does not see into the OpenMP libraries, whose barriers it takes for races. So it
 * runs on a build without OpenMP, in which all threads are those of this test:
 *
 *     CC=clang meson setup build-tsan -Db_sanitize=thread -Db_lundef=false \
 *         -Dbuildtype=debugoptimized -Dopenmp=disabled -Dopenblas=disabled -Donednn=disabled
 *     meson test -C build-tsan --suite threads --suite unit --suite check
 */
#include "helpers.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { CALLERS = 4, ROUNDS = 8, LOOP_THREADS = 3 };

/* What all callers use. */
struct shared {
    const csrconv_plan *plan;
    size_t workspace_bytes;
    const float *in, *want;
    int64_t batch, image_in, image_out;
};

struct caller {
    const struct shared *shared;
    int failures; /* of this caller: cmocka asserts on the main thread only */
};

/* Another number of images every time. */
static int call_once(const struct shared *s, int64_t n, float *out, void *workspace)
{
    const size_t bytes = (size_t)(n * s->image_out) * sizeof *out;
    memset(out, 0xff, bytes);
    if (csrconv_execute(s->plan, n, s->in, out, workspace, s->workspace_bytes, NULL))
        return 1;
    return memcmp(out, s->want, bytes) != 0;
}

static void *call(void *argument)
{
    struct caller *caller = argument;
    const struct shared *s = caller->shared;
    float *out = malloc((size_t)(s->batch * s->image_out) * sizeof *out);
    void *workspace = aligned_alloc(64, s->workspace_bytes / 64 * 64 + 64);
    caller->failures = !out || !workspace;
    for (int round = 0; round < ROUNDS && !caller->failures; round++) {
        caller->failures += call_once(s, s->batch - round % 2, out, workspace);
        if (csrconv_execute(s->plan, -1 - round, s->in, out, workspace, 0, NULL) !=
                CSRCONV_BAD_ARGUMENT ||
            !strstr(csrconv_last_error(), "n is -"))
            caller->failures++;
    }
    free(workspace);
    free(out);
    return NULL;
}

struct share {
    void (*task)(void *argument, int64_t index);
    void *argument;
    int64_t first, count;
};

static void *run_share(void *argument)
{
    const struct share *share = argument;
    for (int64_t i = share->first; i < share->count; i += LOOP_THREADS)
        share->task(share->argument, i);
    return NULL;
}

static void run_loop(void *context, int64_t count, void (*task)(void *, int64_t), void *argument)
{
    pthread_t threads[LOOP_THREADS];
    struct share shares[LOOP_THREADS];
    (void)context;
    for (int i = 0; i < LOOP_THREADS; i++) {
        shares[i] = (struct share){ task, argument, i, count };
        if (pthread_create(&threads[i], NULL, run_share, &shares[i]))
            abort();
    }
    for (int i = 0; i < LOOP_THREADS; i++)
        pthread_join(threads[i], NULL);
}

static void execute_from_all(const struct shared *shared)
{
    pthread_t threads[CALLERS];
    struct caller callers[CALLERS];
    for (int i = 0; i < CALLERS; i++) {
        callers[i] = (struct caller){ .shared = shared };
        assert_int_equal(pthread_create(&threads[i], NULL, call, &callers[i]), 0);
    }
    for (int i = 0; i < CALLERS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    for (int i = 0; i < CALLERS; i++)
        assert_int_equal(callers[i].failures, 0);
}

/* The layer's plan with those options, made and shared. */
static void share_plan(const struct layer *layer, const csrconv_algorithm *algorithm,
                       const float *want)
{
    csrconv_plan_options options = layer->options;
    csrconv_plan_info info = { .struct_size = sizeof info };
    struct shared shared = { .in = layer->in, .want = want, .batch = layer->geometry.batch };
    csrconv_plan *plan;
    options.algorithm = info_of(algorithm).name;
    assert_ok(csrconv_plan_create(layer->weights, &layer->geometry, &options, &plan));
    assert_ok(csrconv_plan_describe(plan, &info));
    shared.plan = plan;
    shared.workspace_bytes = info.workspace_bytes;
    shared.image_in = layer_in_floats(layer) / shared.batch;
    shared.image_out = layer_out_floats(layer) / shared.batch;
    execute_from_all(&shared);
    csrconv_plan_destroy(&plan);
}

static void callers_share_a_plan(const csrconv_algorithm *algorithm)
{
    const csrconv_parallel parallel = { NULL, LOOP_THREADS, run_loop };
    csrconv_geometry g = geometry_of(6, 11, 10, 8, 3, 3);
    float in[3 * 6 * 110], want[3 * 8 * 110], bias[8];
    csrconv_weights *weights;
    struct layer layer;
    if (info_of(algorithm).device != CSRCONV_DEVICE_CPU)
        return;
    g.batch = 3;
    g.pad_top = g.pad_left = g.pad_bottom = g.pad_right = 1;
    weights = weights_of(&g);
    fill_series(in, COUNT_OF(in));
    fill_series(bias, 8);
    layer = layer_of(&g, weights, in);
    layer.options.epilogue.bias = bias;
    layer.options.threads = 1;
    layer_run(&layer, algorithm, want);
    share_plan(&layer, algorithm, want);
    layer.options.threads = 2;
    share_plan(&layer, algorithm, want);
    layer.options.threads = 0;
    layer.options.parallel = &parallel;
    share_plan(&layer, algorithm, want);
    csrconv_weights_destroy(&weights);
}

static void every_algorithm_is_reentrant(void **state)
{
    (void)state;
    each_own_algorithm(callers_share_a_plan);
}

/* Threads that make, use and destroy plans from the same weights. */
static void *plan_and_destroy(void *argument)
{
    const csrconv_weights *weights = argument;
    const csrconv_geometry g = geometry_of(6, 11, 10, 8, 3, 3);
    int failures = 0;
    for (int round = 0; round < ROUNDS; round++) {
        csrconv_plan *plan;
        failures += csrconv_plan_create(weights, &g, NULL, &plan) != CSRCONV_OK;
        csrconv_plan_destroy(&plan);
    }
    return failures ? argument : NULL;
}

static void weights_are_shared_by_planners(void **state)
{
    const csrconv_geometry g = geometry_of(6, 11, 10, 8, 3, 3);
    csrconv_weights *weights = weights_of(&g);
    pthread_t threads[CALLERS];
    (void)state;
    for (int i = 0; i < CALLERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, plan_and_destroy, weights), 0);
    for (int i = 0; i < CALLERS; i++) {
        void *failed;
        assert_int_equal(pthread_join(threads[i], &failed), 0);
        assert_null(failed);
    }
    csrconv_weights_destroy(&weights);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_algorithm_is_reentrant),
        cmocka_unit_test(weights_are_shared_by_planners),
    };
    return cmocka_run_group_tests_name("threads", tests, NULL, NULL);
}
