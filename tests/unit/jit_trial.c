#include "jit_trial.h"

#include "jit_ptx.h"
#include "jit_traffic.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The input again, ending where its memory ends, off 16 bytes as the trial says. */
static float *place_input(const struct jit_trial *t, float **room)
{
    const int64_t floats = t->layer.in_floats;
    float *in = *room = test_malloc((size_t)(floats + 8) * sizeof(float));
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

static void print_part(const struct jit_trial *t, const struct csrconv_jit_deal *deal,
                       int64_t number, struct csrconv_jit_text *text, struct counts *counts)
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
static struct ptx_program *print_all(const struct jit_trial *t, struct csrconv_memory *memory,
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

static void check_counts(const struct jit_trial *t, const struct ptx_program *program,
                         const struct counts *counts)
{
    const int64_t barriers = counts->barriers + 1; /* the entry's */
    assert_int_equal(ptx_count(program, "fma.rn.f32"), counts->fmas);
    assert_int_equal(ptx_count(program, "ld.shared.f32") - count_given(program), counts->loads);
    assert_int_equal(ptx_count(program, "st.global"), counts->stores);
    assert_true(t->tiling.step ? ptx_count(program, "bar.sync") >= barriers
                               : ptx_count(program, "bar.sync") == barriers);
}

static void run_kernel(struct jit_trial *t)
{
    const struct csrconv_shape *shape = &t->layer.problem.shape;
    const csrconv_geometry *g = &shape->g;
    struct csrconv_memory memory;
    struct counts counts = { 0 };
    struct ptx_program *program;
    const int64_t parts = csrconv_jit_parts(shape, &t->tiling);
    struct ptx_traffic traffic = { 0 };
    float *room;
    const struct ptx_launch launch = {
        .in = { place_input(t, &room), t->images, shape->in_image, g->in_batch_stride },
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
    test_free(room);
}

static float finished(const struct jit_trial *t, int64_t filter, int64_t at)
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

static void check_outputs(const struct jit_trial *t)
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

void jit_trial_run(struct jit_trial *t)
{
    exact_layer_clear(&t->layer);
    run_kernel(t);
    check_outputs(t);
}
