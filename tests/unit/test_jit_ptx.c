/*
 * The code that cuda_jit makes, run on the CPU: panels of random layers are printed as PTX and
 * interpreted, and every output must come out once and right.
 */
#include "jit_trial.h"

enum { ROUNDS = 400, CLUSTER_ROUNDS = 25, TRIMMED_ROUNDS = 60, KEPT = 3, LARGE = 227 * 1024 };
enum { RESERVED = 1024 }; /* bytes of shared memory, of each block, by the system */

static const struct csrconv_block_machine machines[] = {
    { 132, LARGE, 228 * 1024, 1.98 },
    { 132, LARGE, 228 * 1024, 1.98 },
    { 5, 12 * 1024, 14 * 1024, 1.0 }, /* no such GPU: small, so that stages and tiles are */
};

/* Only tilings of so many chunks, only those that trim; 0: any. */
struct wanted {
    int64_t chunks, trims;
};

static void check_limits(const struct csrconv_block_machine *machine,
                         const struct csrconv_shape *shape, const struct csrconv_jit_tiling *t)
{
    assert_true(t->shared_bytes <= machine->block_shared);
    assert_true(t->residents * (t->shared_bytes + RESERVED) <= machine->processor_shared);
    assert_in_range(csrconv_jit_panels(shape, t), 1, CSRCONV_JIT_MOST_PANELS);
    assert_true(t->threads % 32 == 0 && t->threads <= CSRCONV_JIT_MOST_THREADS);
    assert_in_range(t->span, 1, t->threads);
    assert_true(t->filters < csrconv_jit_registers(t->threads / 32 * t->residents));
    assert_in_range(t->ring, 1, t->stages);
    assert_true(t->us > 0.0);
}

/* Warps that reach into the next image read every bank once. */
static void check_banks(const struct csrconv_shape *shape, const struct csrconv_jit_tiling *t)
{
    const int64_t lanes = csrconv_jit_image_lanes(shape);
    if (t->is_flat && t->slots > 1 && csrconv_jit_is_in_place(shape) && lanes % 4 == 0)
        assert_int_equal((t->slot_pitch - lanes) % 32, 0);
}

static void check_tiling(struct jit_trial *t, const struct csrconv_block_machine *machine,
                         const struct csrconv_jit_tiling *tiling, struct random_state *random)
{
    t->tiling = *tiling;
    check_banks(&t->layer.problem.shape, tiling);
    /* Such small layers would all be one unit. */
    t->tiling.unit_parts = random_between(random, 1, tiling->unit_parts);
    t->tiling.step = random_below(random, 3) ? 0 : random_between(random, 1, 50);
    check_limits(machine, &t->layer.problem.shape, tiling);
    jit_trial_run(t);
}

/* Some of the tilings, spread over all: the one that each visit replaces is drawn. */
struct kept {
    const struct jit_trial *trial;
    struct wanted wanted;
    struct random_state *random;
    int64_t seen, found;
    struct csrconv_jit_tiling tilings[KEPT];
};

/* Instructions that the threads of a tiling run, about: the interpreter is slow. */
static double work_of(const struct jit_trial *t, const struct csrconv_jit_tiling *tiling)
{
    const struct csrconv_shape *shape = &t->layer.problem.shape;
    const double panels = (double)(tiling->panels * shape->g.groups);
    const double nonzeros = (double)csrconv_nonzeros(t->layer.problem.weights);
    const double blocks = (double)csrconv_jit_blocks(shape, tiling, t->images);
    return blocks * (double)tiling->threads *
           (2.0 * nonzeros + panels * (200.0 + 20.0 * (double)tiling->stages +
                                       10.0 * (double)(shape->g.kernel_h * shape->g.kernel_w)));
}

static void keep_some(void *context, const struct csrconv_jit_tiling *tiling)
{
    const double most_work = 1e7;
    struct kept *kept = context;
    const struct wanted *wanted = &kept->wanted;
    int64_t at;
    kept->seen++;
    if (work_of(kept->trial, tiling) > most_work)
        return;
    if ((wanted->chunks && tiling->chunks != wanted->chunks) || tiling->trims < wanted->trims)
        return;
    at = kept->found < KEPT ? kept->found : random_between(kept->random, 0, kept->found);
    if (at < KEPT)
        kept->tilings[at] = *tiling;
    kept->found++;
}

static void check_tilings(struct jit_trial *t, const struct csrconv_block_machine *machine,
                          struct wanted wanted, struct random_state *random, int64_t *checked)
{
    struct kept kept = { .trial = t, .wanted = wanted, .random = random };
    struct csrconv_jit_tiling best;
    const csrconv_status status = csrconv_jit_tiling_choose(&t->layer.problem, machine, &best);
    csrconv_jit_tiling_each(&t->layer.problem, machine, keep_some, &kept);
    assert_int_equal(status, kept.seen ? CSRCONV_OK : CSRCONV_NOT_SUPPORTED);
    for (int64_t i = 0; i < kept.found && i < KEPT; i++) {
        check_tiling(t, machine, &kept.tilings[i], random);
        ++*checked;
    }
}

/* A bias, a residual, an activation: each in some of the trials. */
static void draw_epilogue(struct jit_trial *t, float *bias, struct random_state *random)
{
    const int64_t filters = t->layer.problem.shape.g.filters;
    csrconv_epilogue *e = &t->layer.problem.epilogue;
    for (int64_t i = 0; i < filters; i++)
        bias[i] = (float)random_between(random, -50, 50);
    for (int64_t i = 0; i < t->layer.out_floats; i++)
        t->residual[i] = (float)random_between(random, -50, 50);
    e->bias = random_below(random, 2) ? bias : NULL;
    e->residual = (int)random_below(random, 2);
    e->activation = (csrconv_activation)random_below(random, 3);
    e->lo = -30.0F;
    e->hi = 40.0F;
}

static void check_geometry(const csrconv_geometry *g, const struct csrconv_block_machine *machine,
                           struct wanted wanted, struct random_state *random, int64_t *checked)
{
    csrconv_weights *weights = random_weights(random, g);
    struct jit_trial t = { .layer.problem.weights = weights };
    float *bias = test_malloc((size_t)g->filters * sizeof *bias);
    exact_layer_init(&t.layer, g, random);
    t.images = random_between(random, 1, g->batch);
    t.misplaced = random_between(random, 0, 3);
    t.residual = test_malloc((size_t)t.layer.out_floats * sizeof(float));
    t.layer.problem.without.eviction = random_below(random, 4) == 0;
    draw_epilogue(&t, bias, random);
    check_tilings(&t, machine, wanted, random, checked);
    test_free(t.residual);
    exact_layer_free(&t.layer);
    test_free(bias);
    csrconv_weights_destroy(&weights);
}

static const struct wanted anything = { 0, 0 };

static void code_makes_the_convolution(void **state)
{
    struct random_state random;
    int64_t checked = 0;
    (void)state;
    random_seed(&random, 7);
    for (int i = 0; i < ROUNDS; i++) {
        csrconv_geometry g = random_geometry(&random);
        /* Images apart, in and out, in some. */
        if (random_below(&random, 3) == 0)
            g.in_batch_stride = g.channels * g.height * g.width + random_between(&random, 1, 9);
        check_geometry(&g, &machines[i % COUNT_OF(machines)], anything, &random, &checked);
    }
    assert_true(checked > ROUNDS); /* not too many were too slow to run */
}

/* More channels than random layers have, and panels of fewer filters than the cluster has blocks.
 */
static void clusters_add_up(void **state)
{
    struct random_state random;
    (void)state;
    random_seed(&random, 17);
    for (int64_t chunks = 2; chunks <= CSRCONV_JIT_MOST_CHUNKS; chunks *= 2) {
        int64_t checked = 0;
        for (int i = 0; i < CLUSTER_ROUNDS; i++) {
            csrconv_geometry g = random_geometry(&random);
            g.channels = g.groups * random_between(&random, chunks, 20);
            check_geometry(&g, &machines[i % COUNT_OF(machines)], (struct wanted){ chunks, 0 },
                           &random, &checked);
        }
        assert_true(checked > CLUSTER_ROUNDS);
    }
}

/* Several images, of which blocks see parts; windows may lie outside of images altogether. */
static void trimmed_images_have_what_is_seen(void **state)
{
    struct random_state random;
    int64_t checked = 0;
    (void)state;
    random_seed(&random, 29);
    for (int i = 0; i < TRIMMED_ROUNDS; i++) {
        csrconv_geometry g = random_geometry(&random);
        g.batch = random_between(&random, 2, 9);
        g.channels = g.groups * random_between(&random, 1, 11); /* stages of fewer, too */
        if (i % 2) /* so that reading beyond an image is seen */
            g.in_batch_stride = g.channels * g.height * g.width + random_between(&random, 1, 9);
        check_geometry(&g, &machines[i % COUNT_OF(machines)], (struct wanted){ 0, 1 }, &random,
                       &checked);
    }
    assert_true(checked > TRIMMED_ROUNDS);
}

/* Square layers with borders as real ones have them, larger than the random ones. */
static void real_layers(void **state)
{
    static const struct {
        int64_t batch, channels, size, filters, kernel, stride, pad, groups;
    } layers[] = {
        { 3, 8, 14, 12, 3, 1, 1, 1 }, { 5, 12, 7, 20, 3, 1, 1, 1 }, { 1, 4, 27, 8, 5, 1, 2, 2 },
        { 1, 3, 31, 6, 11, 4, 0, 1 }, { 2, 10, 7, 9, 1, 1, 0, 1 },  { 1, 4, 56, 6, 3, 1, 1, 1 },
        { 2, 6, 28, 5, 1, 2, 0, 1 },  { 1, 3, 112, 4, 7, 2, 3, 1 }, { 4, 6, 13, 8, 3, 1, 1, 2 },
    };
    struct random_state random;
    int64_t checked = 0;
    (void)state;
    random_seed(&random, 11);
    for (int i = 0; i < COUNT_OF(layers); i++) {
        csrconv_geometry g = geometry_of(layers[i].channels, layers[i].size, layers[i].size,
                                         layers[i].filters, layers[i].kernel, layers[i].kernel);
        g.batch = layers[i].batch;
        g.groups = layers[i].groups;
        g.stride_h = g.stride_w = layers[i].stride;
        g.pad_top = g.pad_left = g.pad_bottom = g.pad_right = layers[i].pad;
        check_geometry(&g, &machines[0], anything, &random, &checked);
    }
    assert_true(checked > COUNT_OF(layers));
}

/* It fits where its blocks and what is reserved for each fill shared memory, not with a byte less.
 */
static void check_fit(const struct csrconv_shape *shape, const struct csrconv_jit_tiling *tiling)
{
    struct csrconv_block_machine machine = machines[0];
    struct csrconv_jit_tiling t = *tiling;
    machine.processor_shared = t.residents * (t.shared_bytes + RESERVED);
    assert_true(csrconv_jit_fit_stages(shape, &machine, &t));
    machine.processor_shared--;
    assert_false(csrconv_jit_fit_stages(shape, &machine, &t));
}

static void check_visited(void *shape, const struct csrconv_jit_tiling *t)
{
    check_limits(&machines[0], shape, t);
    check_fit(shape, t);
}

/*
 * Of a layer whose stages fill shared memory, and of one whose groups have three filters each and
 * room for two panels in a grid.
 */
static void every_tiling_keeps_its_limits(void **state)
{
    csrconv_geometry layers[] = { geometry_of(64, 56, 56, 64, 3, 3),
                                  geometry_of(30000, 3, 3, 90000, 1, 1) };
    (void)state;
    layers[1].groups = 30000;
    for (size_t i = 0; i < COUNT_OF(layers); i++) {
        csrconv_weights *weights = weights_of(&layers[i]);
        struct csrconv_problem problem = { .weights = weights };
        assert_ok(csrconv_shape_init(&problem.shape, &layers[i]));
        assert_true(csrconv_jit_tiling_each(&problem, &machines[0], check_visited, &problem.shape) >
                    0);
        csrconv_weights_destroy(&weights);
    }
}

/* What a layer with these weights is refused for. */
static void refuse(const csrconv_geometry *g, const csrconv_weights *weights, const char *why)
{
    struct csrconv_problem problem = { .weights = weights };
    struct csrconv_jit_tiling tiling;
    assert_ok(csrconv_shape_init(&problem.shape, g));
    assert_fails(csrconv_jit_tiling_choose(&problem, &machines[0], &tiling), CSRCONV_NOT_SUPPORTED,
                 why);
}

static void what_is_too_large_is_refused(void **state)
{
    csrconv_geometry g = geometry_of(1024, 7, 7, 2048, 1, 1);
    csrconv_weights *weights = weights_of(&g);
    (void)state;
    refuse(&g, weights, "1398101 nonzeros");
    csrconv_weights_destroy(&weights);
    g = geometry_of(1 << 16, 3, 3, 1 << 16, 1, 1);
    g.groups = 1 << 16;
    weights = weights_of(&g);
    refuse(&g, weights, "65536 groups of 1 filters");
    csrconv_weights_destroy(&weights);
    g = geometry_of(1, 400, 400, 1, 2, 2);
    g.dilation_h = g.dilation_w = 300;
    weights = weights_of(&g);
    refuse(&g, weights, "232448 bytes of shared memory");
    g.pad_top = g.pad_left = 1 << 20;
    refuse(&g, weights, "1048976 x 1048976");
    csrconv_weights_destroy(&weights);
}

/*
 * Sizes are looked at without the weights, of which only nonzeros are counted: few here, as those
 * of so many filters would take memory.
 */
static csrconv_status check_groups(const csrconv_weights *weights, int64_t groups, int64_t filters)
{
    struct csrconv_problem problem = { .weights = weights };
    csrconv_geometry g = geometry_of(groups, 3, 3, groups * filters, 1, 1);
    g.groups = groups;
    assert_ok(csrconv_shape_init(&problem.shape, &g));
    return csrconv_jit_check_size(&problem);
}

/* A grid has 65535 panels, and a thread sums of up to 255 filters. */
static void groups_need_whole_panels(void **state)
{
    const csrconv_geometry one = geometry_of(1, 3, 3, 1, 1, 1);
    csrconv_weights *weights = weights_of(&one);
    (void)state;
    assert_ok(check_groups(weights, 65535, 255));
    assert_fails(check_groups(weights, 65536, 255), CSRCONV_NOT_SUPPORTED,
                 "65536 groups of 255 filters");
    assert_ok(check_groups(weights, 32767, 256));
    assert_ok(check_groups(weights, 32767, 510));
    assert_fails(check_groups(weights, 32768, 256), CSRCONV_NOT_SUPPORTED,
                 "32768 groups of 256 filters");
    assert_fails(check_groups(weights, 32768, 510), CSRCONV_NOT_SUPPORTED,
                 "32768 groups of 510 filters");
    csrconv_weights_destroy(&weights);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(code_makes_the_convolution),
        cmocka_unit_test(clusters_add_up),
        cmocka_unit_test(trimmed_images_have_what_is_seen),
        cmocka_unit_test(real_layers),
        cmocka_unit_test(every_tiling_keeps_its_limits),
        cmocka_unit_test(what_is_too_large_is_refused),
        cmocka_unit_test(groups_need_whole_panels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
