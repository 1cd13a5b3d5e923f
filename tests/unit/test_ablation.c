/* The blocked kernels without one of their choices: right all the same, and really without it. */
#include "helpers.h"

#include "algorithm.h"
#include "choose.h"
#include "complain.h"
#include "runner/ablation.h"
#include "runner/trial.h"
#include "segments.h"

#include <stdio.h>
#include <string.h>

enum { VARIANTS = 6 };

/* Many channels at a high batch, borders, groups, strides, a batch below any vector. */
static csrconv_geometry geometry_number(int index)
{
    csrconv_geometry g = geometry_of(96, 13, 11, 40, 3, 3);
    g.pad_top = g.pad_left = g.pad_bottom = g.pad_right = 1;
    g.batch = 19;
    if (index == 1) {
        g = geometry_of(64, 9, 30, 24, 1, 1);
        g.groups = 2;
        g.batch = 3;
    } else if (index == 2) {
        g.stride_h = g.stride_w = 2;
        g.dilation_h = 2;
        g.batch = 1;
    }
    return g;
}

enum { GEOMETRIES = 3 };

static void make_workload(int index, bool is_exact, struct workload *workload)
{
    const csrconv_geometry g = geometry_number(index);
    const struct workload_options options = {
        .seed = 7, .sparsity = 0.8, .is_exact = is_exact, .has_bias = true
    };
    assert_int_equal(workload_make(&g, &options, workload), EXIT_DONE);
}

static void check_variants(int index, bool is_exact, int threads)
{
    struct workload workload;
    struct reference reference;
    struct stage stage;
    make_workload(index, is_exact, &workload);
    assert_int_equal(reference_make(&workload, 1, &reference), EXIT_DONE);
    assert_int_equal(stage_make(&workload, CSRCONV_DEVICE_CPU, 0, &stage), EXIT_DONE);
    for (int i = 0; ablation_cpu_table[i]; i++) {
        struct trial trial;
        trial_make(&stage, ablation_cpu_table[i], threads, &trial);
        trial_verify(&trial, &reference, workload.geometry.batch);
        if (trial.status == TRIAL_FAILED)
            fail_msg("%s: %s", trial.algorithm.name, trial.reason);
        trial_free(&trial);
    }
    stage_free(&stage);
    reference_free(&reference);
    workload_free(&workload);
}

static void every_variant_is_right(void **state)
{
    (void)state;
    for (int index = 0; index < GEOMETRIES; index++)
        for (int threads = 1; threads <= 3; threads += 2) {
            check_variants(index, true, threads);
            check_variants(index, false, threads);
        }
}

/* What plans of the variants say of themselves; false where no blocked kernel runs. */
static bool describe_variants(int index, char details[VARIANTS][CSRCONV_DETAIL_BYTES])
{
    struct workload workload;
    struct stage stage;
    bool runs = true;
    make_workload(index, true, &workload);
    assert_int_equal(stage_make(&workload, CSRCONV_DEVICE_CPU, 0, &stage), EXIT_DONE);
    for (int i = 0; i < VARIANTS; i++) {
        struct trial trial;
        assert_non_null(ablation_cpu_table[i]);
        trial_make(&stage, ablation_cpu_table[i], 1, &trial);
        runs = runs && trial.plan;
        snprintf(details[i], CSRCONV_DETAIL_BYTES, "%s", trial.plan ? trial.info.detail : "");
        trial_free(&trial);
    }
    assert_null(ablation_cpu_table[VARIANTS]);
    stage_free(&stage);
    workload_free(&workload);
    return runs;
}

static void every_variant_is_without_its_choice(void **state)
{
    enum { COMPLETE, ONE_BLOCK, NATURAL_ORDER, SINGLE_TILES, IMAGES, PIXELS };
    char details[VARIANTS][CSRCONV_DETAIL_BYTES];
    (void)state;
    if (!describe_variants(0, details))
        skip();
    assert_non_null(strstr(details[ONE_BLOCK], "blocks of 96 channels"));
    assert_non_null(strstr(details[NATURAL_ORDER], "as they come"));
    assert_memory_equal(details[NATURAL_ORDER], details[COMPLETE], strlen(details[COMPLETE]));
    assert_non_null(strstr(details[SINGLE_TILES], " 1 stored together"));
    assert_non_null(strstr(details[IMAGES], "images in lanes"));
    assert_null(strstr(details[IMAGES], "pixels in lanes"));
    assert_non_null(strstr(details[PIXELS], "pixels in lanes"));
    assert_null(strstr(details[PIXELS], "images in lanes"));
}

/* The complete one is what the kernel's own plan is. */
static void complete_is_the_kernel_itself(void **state)
{
    char details[VARIANTS][CSRCONV_DETAIL_BYTES];
    struct workload workload;
    csrconv_plan_options options;
    csrconv_plan_info info = { .struct_size = sizeof info };
    csrconv_plan *plan;
    (void)state;
    if (!describe_variants(0, details))
        skip();
    make_workload(0, true, &workload);
    csrconv_plan_options_init(&options);
    options.algorithm = "direct_avx512";
    options.threads = 1;
    if (csrconv_plan_create(workload.weights, &workload.geometry, &options, &plan)) {
        options.algorithm = "direct_avx2";
        assert_ok(csrconv_plan_create(workload.weights, &workload.geometry, &options, &plan));
    }
    assert_ok(csrconv_plan_describe(plan, &info));
    assert_string_equal(details[0], info.detail);
    csrconv_plan_destroy(&plan);
    workload_free(&workload);
}

/* Those of a GPU belong to it, and say so where there is no kernel to take anything from. */
static void variants_of_a_gpu(void **state)
{
    const csrconv_algorithm *const *table = ablation_table(CSRCONV_DEVICE_CUDA);
    const struct csrconv_problem problem = { .device = CSRCONV_DEVICE_CUDA };
    struct csrconv_estimate estimate;
    (void)state;
    assert_ptr_equal(ablation_table(CSRCONV_DEVICE_CPU), ablation_cpu_table);
    assert_string_equal(table[0]->info.name, "complete");
    for (int i = 0; table[i]; i++) {
        assert_int_equal(table[i]->info.device, CSRCONV_DEVICE_CUDA);
        if (!csrconv_find_algorithm("cuda_tiled", NULL))
            assert_fails(table[i]->estimate(table[i], &problem, &estimate), CSRCONV_NOT_BUILT,
                         "cuda_tiled");
    }
}

/* Filters of a block in the order in which segments have them. */
static bool is_ascending(const struct csrconv_segments *s, int64_t block)
{
    for (int64_t i = s->block_begin[block] + 1; i < s->block_begin[block + 1]; i++)
        if (s->segments[i].filter < s->segments[i - 1].filter)
            return false;
    return true;
}

static void order_of_segments(void **state)
{
    struct csrconv_tile_layout layout;
    struct csrconv_shape shape;
    struct csrconv_memory memory;
    struct workload workload;
    (void)state;
    make_workload(0, true, &workload);
    assert_ok(csrconv_shape_init(&shape, &workload.geometry));
    assert_ok(csrconv_tile_layout_init(&layout, &shape, 8, false));
    assert_ok(csrconv_memory_init(&memory, NULL));
    for (int natural = 0; natural < 2; natural++) {
        const struct csrconv_cut cut = { 32, 1, natural };
        struct csrconv_segments s;
        bool ascending = true;
        assert_ok(csrconv_segments_make(workload.weights, &shape, &layout, &cut, &memory, &s));
        assert_int_equal(s.blocks, 3);
        for (int64_t block = 0; block < s.blocks; block++)
            ascending = ascending && is_ascending(&s, block);
        assert_int_equal(ascending, natural);
        csrconv_segments_free(&memory, &s);
    }
    workload_free(&workload);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_variant_is_right),
        cmocka_unit_test(every_variant_is_without_its_choice),
        cmocka_unit_test(complete_is_the_kernel_itself),
        cmocka_unit_test(variants_of_a_gpu),
        cmocka_unit_test(order_of_segments),
    };
    return cmocka_run_group_tests_name("ablation", tests, NULL, NULL);
}
