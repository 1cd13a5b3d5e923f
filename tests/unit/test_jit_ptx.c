/*
 * The code that cuda_jit makes, run on the CPU: panels of random layers are printed as PTX and
 * interpreted, and every output must come out once and right.
 */
#include "exact_layer.h"
#include "jit_traffic.h"

#include "jit_ptx.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 400, CLUSTER_ROUNDS = 25, TRIMMED_ROUNDS = 60, KEPT = 3, LARGE = 227 * 1024 };

static const struct csrconv_block_machine machines[] = {
    { 132, LARGE, 228 * 1024, 1.98 },
    { 132, LARGE, 228 * 1024, 1.98 },
    { 5, 12 * 1024, 14 * 1024, 1.0 }, /* no such GPU: small, so that stages and tiles are */
};

/* Only tilings of so many chunks, only those that trim; 0: any. */
struct wanted {
    int64_t chunks, trims;
};

struct trial {
    struct exact_layer layer;
    struct csrconv_jit_tiling tiling;
    int64_t images;
    struct wanted wanted;
    int64_t misplaced; /* floats that `in` lies off 16 bytes */
    float *in_room, *residual;
};

/* The input again, ending where its memory ends, off 16 bytes as the trial says. */
static const float *place_input(struct trial *t)
{
    const int64_t floats = t->layer.in_floats;
    float *in;
    t->in_room = test_malloc((size_t)(floats + 8) * sizeof(float));
    in = t->in_room;
    while ((uintptr_t)in % 16 != (uintptr_t)t->misplaced * sizeof(float))
        in++;
    memcpy(in, t->layer.in, (size_t)floats * sizeof(float));
    return in;
}

/* What the code must have, counted. */
struct counts {
    int64_t fmas, loads, stores, barriers;
    int64_t *lines; /* of each part's code */
};

static void print_part(const struct trial *t, const struct csrconv_jit_deal *deal, int64_t number,
                       struct csrconv_jit_text *text, struct counts *counts)
{
    const int64_t chunks = t->tiling.chunks;
    struct csrconv_jit_part part;
    assert_ok(
        csrconv_jit_part_make(&t->layer.problem, &t->tiling, deal, number, text->memory, &part));
    csrconv_jit_ptx_part(&t->layer.problem, &t->tiling, &part, text);
    assert_in_range(part.stages, t->tiling.stages / chunks, (t->tiling.stages - 1) / chunks + 1);
    counts->fmas += part.load[part.loads].fma;
    counts->loads += part.loads;
    counts->barriers += part.stages + 1;
    counts->lines[number] = csrconv_jit_code_lines(&part);
    if (part.chunk == 0)
        counts->stores += part.filters;
    csrconv_jit_part_free(text->memory, &part);
}

/* The texts of all units, and of the entry. */
static struct ptx_program *print_all(const struct trial *t, struct csrconv_memory *memory,
                                     struct counts *counts)
{
    const struct csrconv_shape *shape = &t->layer.problem.shape;
    const int64_t units = csrconv_jit_units(shape, &t->tiling);
    struct csrconv_jit_text *texts = test_calloc((size_t)units + 1, sizeof *texts);
    const char **characters = test_calloc((size_t)units + 1, sizeof *characters);
    struct ptx_program *program;
    struct csrconv_jit_deal deal;
    assert_ok(csrconv_jit_deal_make(&t->layer.problem, &t->tiling, memory, &deal));
    for (int64_t i = 0; i <= units; i++) {
        texts[i].memory = memory;
        if (i == units) {
            csrconv_jit_ptx_entry(shape, &t->tiling, &texts[i]);
        } else {
            csrconv_jit_ptx_begin(&texts[i]);
            for (int64_t part = i * t->tiling.unit_parts;
                 part < csrconv_jit_unit_end(shape, &t->tiling, i); part++)
                print_part(t, &deal, part, &texts[i], counts);
        }
        assert_ok(texts[i].status);
        characters[i] = texts[i].characters;
    }
    program = ptx_parse(characters, units + 1);
    for (int64_t i = 0; i <= units; i++)
        csrconv_jit_text_free(&texts[i]);
    csrconv_jit_deal_free(memory, &deal);
    test_free(characters);
    test_free(texts);
    return program;
}

/* Sums that blocks of a cluster give one another one by one: as many as are loaded so. */
static int64_t count_given(const struct ptx_program *program)
{
    return ptx_count(program, "st.async.shared::cluster.mbarrier::complete_tx::bytes.f32");
}

static void check_counts(const struct trial *t, const struct ptx_program *program,
                         const struct counts *counts)
{
    const int64_t barriers = counts->barriers + 1; /* the entry's */
    assert_int_equal(ptx_count(program, "fma.rn.f32"), counts->fmas);
    assert_int_equal(ptx_count(program, "ld.shared.f32") - count_given(program), counts->loads);
    assert_int_equal(ptx_count(program, "st.global"), counts->stores);
    assert_true(t->tiling.step ? ptx_count(program, "bar.sync") >= barriers
                               : ptx_count(program, "bar.sync") == barriers);
}

static void run_kernel(struct trial *t)
{
    const struct csrconv_shape *shape = &t->layer.problem.shape;
    const csrconv_geometry *g = &shape->g;
    struct csrconv_memory memory;
    struct counts counts = { 0 };
    struct ptx_program *program;
    const int64_t parts = csrconv_jit_parts(shape, &t->tiling);
    struct ptx_traffic traffic = { 0 };
    const struct ptx_launch launch = {
        .in = { (float *)(uintptr_t)place_input(t), t->images, shape->in_image,
                g->in_batch_stride },
        .out = { t->layer.out, t->images, shape->out_image, g->out_batch_stride },
        .residual = { t->residual, t->images, shape->out_image, g->out_batch_stride },
        .images = (uint32_t)t->images,
        .blocks = csrconv_jit_blocks(shape, &t->tiling, t->images),
        .panels = csrconv_jit_panels(shape, &t->tiling),
        .chunks = t->tiling.chunks,
        .threads = t->tiling.threads,
        .shared_bytes = t->tiling.shared_bytes
    };
    assert_true(t->images <= csrconv_jit_launch_images(shape, &t->tiling));
    assert_ok(csrconv_memory_init(&memory, NULL));
    counts.lines = test_calloc((size_t)parts, sizeof *counts.lines);
    program = print_all(t, &memory, &counts);
    check_counts(t, program, &counts);
    ptx_run(program, &launch, &traffic);
    check_copied(shape, &t->tiling, t->images, &traffic);
    check_fetched(&t->tiling, launch.blocks, counts.lines, parts, &traffic);
    ptx_free(program);
    free(traffic.fetches);
    test_free(counts.lines);
    test_free(t->in_room);
}

static float finished(const struct trial *t, int64_t filter, int64_t at)
{
    const csrconv_epilogue *e = &t->layer.problem.epilogue;
    const float sum = t->layer.want[at] + (e->bias ? e->bias[filter] : 0.0F) +
                      (e->residual ? t->residual[at] : 0.0F);
    const float lo = e->activation == CSRCONV_ACTIVATION_RELU ? 0.0F : e->lo;
    if (e->activation == CSRCONV_ACTIVATION_NONE)
        return sum;
    if (sum < lo)
        return lo;
    return e->activation == CSRCONV_ACTIVATION_CLAMP && sum > e->hi ? e->hi : sum;
}

static void check_outputs(const struct trial *t)
{
    const struct csrconv_shape *shape = &t->layer.problem.shape;
    for (int64_t n = 0; n < shape->g.batch; n++)
        for (int64_t i = 0; i < shape->out_image; i++) {
            const int64_t at = n * shape->g.out_batch_stride + i;
            if (n >= t->images)
                assert_true(isnan(t->layer.out[at]));
            else if (t->layer.out[at] != finished(t, i / shape->out_plane, at))
                fail_msg("image %d, output %d: %g, not %g", (int)n, (int)i,
                         (double)t->layer.out[at], (double)finished(t, i / shape->out_plane, at));
        }
}

static void check_limits(const struct csrconv_block_machine *machine,
                         const struct csrconv_jit_tiling *t)
{
    assert_true(t->shared_bytes <= machine->block_shared);
    assert_true(t->residents * t->shared_bytes <= machine->processor_shared);
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

static void check_tiling(struct trial *t, const struct csrconv_block_machine *machine,
                         const struct csrconv_jit_tiling *tiling, struct random_state *random)
{
    t->tiling = *tiling;
    check_banks(&t->layer.problem.shape, tiling);
    /* Such small layers would all be one unit. */
    t->tiling.unit_parts = random_between(random, 1, tiling->unit_parts);
    t->tiling.step = random_below(random, 3) ? 0 : random_between(random, 1, 50);
    check_limits(machine, tiling);
    exact_layer_clear(&t->layer);
    run_kernel(t);
    check_outputs(t);
}

/* Some of the tilings, spread over all: the one that each visit replaces is drawn. */
struct kept {
    const struct trial *trial;
    struct random_state *random;
    int64_t seen, found;
    struct csrconv_jit_tiling tilings[KEPT];
};

/* Instructions that the threads of a tiling run, about: the interpreter is slow. */
static double work_of(const struct trial *t, const struct csrconv_jit_tiling *tiling)
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
    const struct wanted *wanted = &kept->trial->wanted;
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

static void check_tilings(struct trial *t, const struct csrconv_block_machine *machine,
                          struct random_state *random, int64_t *checked)
{
    struct kept kept = { .trial = t, .random = random };
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
static void draw_epilogue(struct trial *t, float *bias, struct random_state *random)
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
    struct trial t = { .layer.problem.weights = weights, .wanted = wanted };
    float *bias = test_malloc((size_t)g->filters * sizeof *bias);
    exact_layer_init(&t.layer, g, random);
    t.images = random_between(random, 1, g->batch);
    t.misplaced = random_between(random, 0, 3);
    t.residual = test_malloc((size_t)t.layer.out_floats * sizeof(float));
    t.layer.problem.without.eviction = random_below(random, 4) == 0;
    draw_epilogue(&t, bias, random);
    check_tilings(&t, machine, random, checked);
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
    g = geometry_of(1, 400, 400, 1, 2, 2);
    g.dilation_h = g.dilation_w = 300;
    weights = weights_of(&g);
    refuse(&g, weights, "232448 bytes of shared memory");
    g.pad_top = g.pad_left = 1 << 20;
    refuse(&g, weights, "1048976 x 1048976");
    csrconv_weights_destroy(&weights);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(code_makes_the_convolution),       cmocka_unit_test(clusters_add_up),
        cmocka_unit_test(trimmed_images_have_what_is_seen), cmocka_unit_test(real_layers),
        cmocka_unit_test(what_is_too_large_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
