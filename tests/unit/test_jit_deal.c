/* Which filters make a panel of cuda_jit. */
#include "exact_layer.h"

#include "jit_deal.h"

static const struct csrconv_block_machine gpu = { 132, 227 * 1024, 228 * 1024, 1.98 };

/* The longest panel's share of all nonzeros, times the panels. */
static double unevenness(const struct csrconv_problem *problem,
                         const struct csrconv_jit_tiling *tiling)
{
    const int64_t *indptr = problem->weights->indptr;
    struct csrconv_memory memory;
    struct csrconv_jit_deal deal;
    int64_t most = 0;
    assert_ok(csrconv_memory_init(&memory, NULL));
    assert_ok(csrconv_jit_deal_make(problem, tiling, &memory, &deal));
    for (int64_t i = 0; i < deal.panels; i++) {
        int64_t nonzeros = 0;
        for (int64_t f = 0; f < tiling->filters; f++) {
            const int64_t m = deal.filter[i * tiling->filters + f];
            nonzeros += m < 0 ? 0 : indptr[m + 1] - indptr[m];
        }
        most = nonzeros > most ? nonzeros : most;
    }
    csrconv_jit_deal_free(&memory, &deal);
    return (double)most * (double)deal.panels / (double)csrconv_nonzeros(problem->weights);
}

static void panels_have_equal_work(void **state)
{
    csrconv_geometry g = geometry_of(64, 14, 14, 256, 3, 3);
    struct csrconv_problem problem = { 0 };
    struct csrconv_jit_tiling tiling;
    csrconv_weights *weights = uneven_weights(&g);
    (void)state;
    g.batch = 128;
    problem.weights = weights;
    assert_ok(csrconv_shape_init(&problem.shape, &g));
    assert_ok(csrconv_jit_tiling_choose(&problem, &gpu, &tiling));
    assert_true(tiling.panels > 1);
    assert_true(unevenness(&problem, &tiling) < 1.05);
    csrconv_weights_destroy(&weights);
}

/* Filters of two kinds, in turn, that use one half of the channels each: each kind its panel. */
static void panels_share_columns(void **state)
{
    enum { FILTERS = 64, CHANNELS = 32, HALF = CHANNELS / 2 };
    const csrconv_geometry g = geometry_of(CHANNELS, 7, 7, FILTERS, 1, 1);
    struct csrconv_jit_tiling tiling = { .filters = FILTERS / 2, .panels = 2, .chunks = 1 };
    struct csrconv_problem problem = { 0 };
    struct csrconv_memory memory;
    struct csrconv_jit_deal deal;
    csrconv_weights *weights;
    float *dense = test_calloc(FILTERS * CHANNELS, sizeof *dense);
    (void)state;
    for (int m = 0; m < FILTERS; m++)
        for (int c = 0; c < HALF; c++)
            dense[m * CHANNELS + m % 3 % 2 * HALF + c] = (m + c) % 4 ? 1.0F : 0.0F;
    assert_ok(csrconv_weights_from_dense(dense, FILTERS, CHANNELS, 1, 1, NULL, &weights));
    problem.weights = weights;
    assert_ok(csrconv_shape_init(&problem.shape, &g));
    assert_ok(csrconv_memory_init(&memory, NULL));
    assert_ok(csrconv_jit_deal_make(&problem, &tiling, &memory, &deal));
    /* A third of them is of the one kind: all in one panel. */
    for (int panel = 0, found = 0; panel < 2; panel++) {
        int kinds = 0;
        for (int i = 0; i < FILTERS / 2; i++)
            kinds += (int)(deal.filter[panel * FILTERS / 2 + i] % 3 % 2);
        found += kinds == 0;
        assert_true(panel == 0 || found == 1);
    }
    csrconv_jit_deal_free(&memory, &deal);
    csrconv_weights_destroy(&weights);
    test_free(dense);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(panels_have_equal_work),
        cmocka_unit_test(panels_share_columns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
