/* What execute refuses, before it touches anything. */
#include "helpers.h"

#include <stdlib.h>
#include <string.h>

enum { BATCH = 3, IN = 2 * 5 * 6, OUT = 4 * 5 * 6, ROOM = 1024 };

/* A padded layer of 3 images planned on the CPU, and buffers with room around the tensors. */
struct fixture {
    csrconv_geometry geometry;
    csrconv_plan *plan;
    size_t workspace_bytes;
    char *workspace; /* ROOM bytes more than needed */
    float *in, *out; /* into the buffers */
    float buffer[4 * ROOM];
};

static csrconv_plan *plan_of(const csrconv_geometry *g, const csrconv_algorithm *algorithm,
                             int residual)
{
    csrconv_weights *weights = weights_of(g);
    csrconv_plan_options options;
    csrconv_plan *plan;
    csrconv_plan_options_init(&options);
    options.algorithm = info_of(algorithm).name;
    options.epilogue.residual = residual;
    assert_ok(csrconv_plan_create(weights, g, &options, &plan));
    csrconv_weights_destroy(&weights);
    return plan;
}

static void set_up(struct fixture *f, const csrconv_algorithm *algorithm, int residual)
{
    csrconv_plan_info info = { .struct_size = sizeof info };
    f->geometry = geometry_of(2, 5, 6, 4, 3, 3);
    f->geometry.batch = BATCH;
    f->geometry.pad_top = f->geometry.pad_bottom = 1;
    f->geometry.pad_left = f->geometry.pad_right = 1;
    f->plan = plan_of(&f->geometry, algorithm, residual);
    assert_ok(csrconv_plan_describe(f->plan, &info));
    f->workspace_bytes = info.workspace_bytes;
    f->workspace = aligned_alloc(64, info.workspace_bytes / 64 * 64 + ROOM);
    assert_non_null(f->workspace);
    f->in = f->buffer + 8;
    f->out = f->in + BATCH * IN + 8;
    memset(f->buffer, 0xff, sizeof f->buffer);
    fill_series(f->in, BATCH * IN);
}

static void tear_down(struct fixture *f)
{
    csrconv_plan_destroy(&f->plan);
    free(f->workspace);
}

static csrconv_status execute(const struct fixture *f, int64_t n, const float *in, float *out)
{
    return csrconv_execute(f->plan, n, in, out, f->workspace, f->workspace_bytes, NULL);
}

/* The output is still what set_up made it. */
static void assert_untouched(const struct fixture *f)
{
    const float *end = f->buffer + COUNT_OF(f->buffer);
    for (const float *at = f->out; at < end; at++) {
        uint32_t bits;
        memcpy(&bits, at, sizeof bits);
        assert_int_equal(bits, UINT32_MAX);
    }
}

/* Runs a test with every CPU algorithm of csrconv's own. */
static void each_on_cpu(void (*test)(struct fixture *f), int residual)
{
    for (const csrconv_algorithm *const *a = csrconv_algorithms(); *a; a++) {
        struct fixture *f;
        if (!runs_on_cpu(*a))
            continue;
        f = test_malloc(sizeof *f);
        set_up(f, *a, residual);
        test(f);
        tear_down(f);
        test_free(f);
    }
}

static void bad_counts(struct fixture *f)
{
    assert_fails(execute(f, -1, f->in, f->out), CSRCONV_BAD_ARGUMENT, "n is -1");
    assert_fails(execute(f, INT64_MIN, f->in, f->out), CSRCONV_BAD_ARGUMENT, "n is -9223");
    assert_fails(execute(f, BATCH + 1, f->in, f->out), CSRCONV_BAD_ARGUMENT,
                 "n is 4, must be in [0, 3]");
    assert_ok(execute(f, 0, f->in, f->out));
    assert_ok(csrconv_execute(f->plan, 0, NULL, NULL, NULL, 0, NULL));
    assert_fails(csrconv_execute(NULL, 1, f->in, f->out, NULL, 0, NULL), CSRCONV_BAD_ARGUMENT,
                 "plan is NULL");
    assert_fails(csrconv_execute(f->plan, 1, f->in, f->out, f->workspace, f->workspace_bytes, f),
                 CSRCONV_BAD_ARGUMENT, "stream must be NULL");
    assert_untouched(f);
}

/* The same place, some bytes on. */
static float *shifted(const float *floats, ptrdiff_t bytes)
{
    return (float *)((uintptr_t)floats + (uintptr_t)bytes);
}

static void bad_tensors(struct fixture *f)
{
    assert_fails(execute(f, 1, NULL, f->out), CSRCONV_BAD_ARGUMENT, "in is NULL");
    assert_fails(execute(f, 1, f->in, NULL), CSRCONV_BAD_ARGUMENT, "out is NULL");
    for (int bytes = 1; bytes < 4; bytes++) {
        assert_fails(execute(f, 1, shifted(f->in, bytes), f->out), CSRCONV_BAD_BUFFER, "in is at");
        assert_fails(execute(f, 1, f->in, shifted(f->out, bytes)), CSRCONV_BAD_BUFFER, "out is at");
    }
    assert_untouched(f);
}

static void overlaps(struct fixture *f)
{
    assert_fails(execute(f, 1, f->out, f->out), CSRCONV_BAD_BUFFER, "in and out overlap");
    assert_fails(execute(f, 3, f->out - 3 * IN + 1, f->out), CSRCONV_BAD_BUFFER, "overlap");
    assert_fails(execute(f, 3, f->out + 3 * OUT - 1, f->out), CSRCONV_BAD_BUFFER, "overlap");
    assert_fails(execute(f, 2, f->out + OUT, f->out), CSRCONV_BAD_BUFFER, "overlap");
    assert_fails(execute(f, 2, f->out + OUT + 3, f->out), CSRCONV_BAD_BUFFER, "overlap");
    assert_untouched(f);
    assert_ok(execute(f, 1, f->out + OUT, f->out)); /* one image of it ends before */
    fill_series(f->out - 3 * IN, 3 * IN);
    assert_ok(execute(f, 3, f->out - 3 * IN, f->out)); /* touching is fine */
}

static void bad_workspaces(struct fixture *f)
{
    const size_t needed = f->workspace_bytes;
    if (!needed)
        return;
    assert_fails(csrconv_execute(f->plan, 1, f->in, f->out, f->workspace, needed - 1, NULL),
                 CSRCONV_BAD_BUFFER, "the plan needs");
    assert_fails(csrconv_execute(f->plan, 1, f->in, f->out, NULL, needed, NULL),
                 CSRCONV_BAD_ARGUMENT, "workspace is NULL");
    for (int bytes = 1; bytes < 64; bytes *= 2)
        assert_fails(csrconv_execute(f->plan, 1, f->in, f->out, f->workspace + bytes, needed, NULL),
                     CSRCONV_BAD_BUFFER, "not 64-byte aligned");
    assert_fails(execute(f, 1, f->in, (float *)(void *)f->workspace), CSRCONV_BAD_BUFFER,
                 "workspace and out overlap");
    assert_fails(execute(f, 1, (float *)(void *)f->workspace, f->out), CSRCONV_BAD_BUFFER,
                 "workspace and in overlap");
    assert_untouched(f);
    assert_ok(csrconv_execute(f->plan, 1, f->in, f->out, f->workspace, needed, NULL));
}

static void residual_is_unexpected(struct fixture *f)
{
    assert_fails(csrconv_execute_residual(f->plan, 1, f->in, f->in, f->out, f->workspace,
                                          f->workspace_bytes, NULL),
                 CSRCONV_BAD_ARGUMENT, "without a residual");
    assert_untouched(f);
}

static csrconv_status add(const struct fixture *f, const float *residual)
{
    return csrconv_execute_residual(f->plan, 1, f->in, residual, f->out, f->workspace,
                                    f->workspace_bytes, NULL);
}

static void residual_is_bad(struct fixture *f)
{
    assert_fails(execute(f, 1, f->in, f->out), CSRCONV_BAD_ARGUMENT, "residual is NULL");
    assert_fails(add(f, shifted(f->out, OUT * 4 + 2)), CSRCONV_BAD_BUFFER, "residual is at");
    assert_fails(add(f, f->out), CSRCONV_BAD_BUFFER, "residual and out overlap");
    assert_fails(add(f, f->out + OUT - 1), CSRCONV_BAD_BUFFER, "residual and out overlap");
    assert_fails(add(f, f->out - OUT + 1), CSRCONV_BAD_BUFFER, "residual and out overlap");
    if (f->workspace_bytes)
        assert_fails(add(f, (float *)(void *)f->workspace), CSRCONV_BAD_BUFFER,
                     "workspace and residual overlap");
    assert_untouched(f);
    fill_series(f->out + OUT, OUT);
    assert_ok(add(f, f->out + OUT));
}

static void counts_out_of_range_are_refused(void **state)
{
    (void)state;
    each_on_cpu(bad_counts, 0);
}

static void tensors_are_checked(void **state)
{
    (void)state;
    each_on_cpu(bad_tensors, 0);
}

static void overlaps_are_refused(void **state)
{
    (void)state;
    each_on_cpu(overlaps, 0);
}

static void workspaces_are_checked(void **state)
{
    (void)state;
    each_on_cpu(bad_workspaces, 0);
}

static void residuals_are_checked(void **state)
{
    (void)state;
    each_on_cpu(residual_is_unexpected, 0);
    each_on_cpu(residual_is_bad, 1);
}

/*
 * Input and output as two parts of one tensor: each image holds the input's channels and then the
 * output's, as where a network concatenates. out stands `shift` floats off that place.
 */
static void concatenate(const csrconv_algorithm *algorithm, ptrdiff_t shift, bool output_first)
{
    csrconv_geometry g = geometry_of(2, 4, 3, 3, 1, 1);
    enum { IMAGE = 5 * 4 * 3, INPUT = 2 * 4 * 3, OUTPUT = 3 * 4 * 3 };
    float apart_in[2 * INPUT], apart_out[2 * OUTPUT], both[2 * IMAGE + 2];
    float *in = both + 1 + (output_first ? OUTPUT : 0),
          *out = both + 1 + (output_first ? 0 : INPUT);
    csrconv_weights *weights = weights_of(&g);
    struct layer layer;
    csrconv_plan *plan;
    void *workspace = aligned_alloc(64, 1 << 16);
    csrconv_status status;
    g.batch = 2;
    fill_series(apart_in, 2 * INPUT);
    layer = layer_of(&g, weights, apart_in);
    layer_run(&layer, algorithm, apart_out);
    memcpy(in, apart_in, INPUT * sizeof *in);
    memcpy(in + IMAGE, apart_in + INPUT, INPUT * sizeof *in);
    g.in_batch_stride = g.out_batch_stride = IMAGE;
    plan = plan_of(&g, algorithm, 0);
    status = csrconv_execute(plan, 2, in, out + shift, workspace, 1 << 16, NULL);
    if (shift) {
        assert_fails(status, CSRCONV_BAD_BUFFER, "in and out overlap");
    } else {
        assert_ok(status);
        assert_memory_equal(out, apart_out, OUTPUT * sizeof *out);
        assert_memory_equal(out + IMAGE, apart_out + OUTPUT, OUTPUT * sizeof *out);
        assert_memory_equal(in, apart_in, INPUT * sizeof *in);
    }
    free(workspace);
    csrconv_plan_destroy(&plan);
    csrconv_weights_destroy(&weights);
}

static void images_may_interleave_but_not_touch(void **state)
{
    (void)state;
    for (const csrconv_algorithm *const *a = csrconv_algorithms(); *a; a++) {
        if (!runs_on_cpu(*a))
            continue;
        for (ptrdiff_t shift = -1; shift <= 1; shift++) {
            concatenate(*a, shift, false);
            concatenate(*a, shift, true);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_out_of_range_are_refused),
        cmocka_unit_test(tensors_are_checked),
        cmocka_unit_test(overlaps_are_refused),
        cmocka_unit_test(workspaces_are_checked),
        cmocka_unit_test(residuals_are_checked),
        cmocka_unit_test(images_may_interleave_but_not_touch),
    };
    return cmocka_run_group_tests_name("execute", tests, NULL, NULL);
}
