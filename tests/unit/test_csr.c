/* Weights: from dense, from a caller's CSR, and what is no CSR. */
#include "helpers.h"

#include <math.h>
#include <string.h>

/* A CSR of 3 filters by 2 channels, kernel 1 x 3: 6 columns. */
static csrconv_csr csr_of(const int64_t *indptr, const int32_t *indices, const float *values)
{
    csrconv_csr csr;
    csrconv_csr_init(&csr);
    csr.filters = 3;
    csr.channels_per_group = 2;
    csr.kernel_h = 1;
    csr.kernel_w = 3;
    csr.indptr = indptr;
    csr.indices = indices;
    csr.values = values;
    return csr;
}

static csrconv_csr view_of(const csrconv_weights *weights)
{
    csrconv_csr view;
    csrconv_csr_init(&view);
    assert_ok(csrconv_weights_view(weights, &view));
    return view;
}

static void assert_rows(const csrconv_weights *weights, const int64_t *indptr,
                        const int32_t *indices, const float *values)
{
    const csrconv_csr view = view_of(weights);
    assert_int_equal(view.filters, 3);
    assert_memory_equal(view.indptr, indptr, 4 * sizeof *indptr);
    for (int64_t i = 0; i < indptr[3]; i++) {
        assert_int_equal(view.indices[i], indices[i]);
        assert_memory_equal(&view.values[i], &values[i], sizeof *values);
    }
}

static void refuse(const csrconv_csr *csr, csrconv_status status, const char *fragment)
{
    struct counted counted = { 0 };
    const csrconv_allocator hooks = counted_allocator(&counted);
    csrconv_weights *weights = (csrconv_weights *)&counted;
    assert_fails(csrconv_weights_from_csr(csr, &hooks, &weights), status, fragment);
    assert_null(weights);
    assert_int_equal(counted.live, 0);
}

static void dense_becomes_rows_of_what_is_not_zero(void **state)
{
    const float dense[18] = { 0, 1, 0, 2, 0, 0, /**/ 0, 0, -0.0F, 0, 0, 0, /**/ 3, 0, 0, 0, 0, -4 };
    const int64_t indptr[] = { 0, 2, 2, 4 };
    const int32_t indices[] = { 1, 3, 0, 5 };
    const float values[] = { 1, 2, 3, -4 };
    csrconv_weights *weights;
    (void)state;
    assert_ok(csrconv_weights_from_dense(dense, 3, 2, 1, 3, NULL, &weights));
    assert_rows(weights, indptr, indices, values);
    csrconv_weights_destroy(&weights);
    assert_null(weights);
}

static void nan_infinity_and_denormals_are_weights(void **state)
{
    const float dense[18] = { NAN, 0, INFINITY, -INFINITY, 1e-45F, -0.0F };
    const int64_t indptr[] = { 0, 4, 4, 4 };
    const int32_t indices[] = { 0, 2, 3, 4 };
    const float values[] = { NAN, INFINITY, -INFINITY, 1e-45F };
    csrconv_weights *weights;
    csrconv_csr csr = csr_of(indptr, indices, values);
    (void)state;
    assert_ok(csrconv_weights_from_dense(dense, 3, 2, 1, 3, NULL, &weights));
    assert_rows(weights, indptr, indices, values);
    csrconv_weights_destroy(&weights);
    assert_ok(csrconv_weights_from_csr(&csr, NULL, &weights));
    assert_rows(weights, indptr, indices, values);
    csrconv_weights_destroy(&weights);
}

static void columns_are_sorted_and_nothing_given_is_kept(void **state)
{
    const int64_t sorted_indptr[] = { 0, 4, 4, 6 };
    const int32_t sorted[] = { 0, 2, 4, 5, 1, 3 };
    const float sorted_values[] = { 1, 2, 3, 4, 5, 6 };
    int64_t indptr[] = { 0, 4, 4, 6 };
    int32_t indices[] = { 5, 0, 4, 2, 3, 1 };
    float values[] = { 4, 1, 3, 2, 6, 5 };
    const csrconv_csr csr = csr_of(indptr, indices, values);
    csrconv_weights *weights;
    (void)state;
    assert_ok(csrconv_weights_from_csr(&csr, NULL, &weights));
    memset(indptr, 0xff, sizeof indptr);
    memset(indices, 0xff, sizeof indices);
    memset(values, 0xff, sizeof values);
    assert_rows(weights, sorted_indptr, sorted, sorted_values);
    csrconv_weights_destroy(&weights);
}

static void every_order_of_a_row_gives_the_same(void **state)
{
    enum { COLUMNS = 257 };
    int32_t indices[COLUMNS];
    float values[COLUMNS];
    const int64_t indptr[] = { 0, COLUMNS };
    (void)state;
    for (int32_t step = 1; step < COLUMNS; step += 17) {
        csrconv_csr csr, view;
        csrconv_weights *weights;
        for (int32_t i = 0; i < COLUMNS; i++) {
            indices[i] = (i * step + 5) % COLUMNS; /* COLUMNS is prime */
            values[i] = (float)indices[i] + 1.0F;
        }
        csrconv_csr_init(&csr);
        csr.filters = csr.kernel_h = csr.kernel_w = 1;
        csr.channels_per_group = COLUMNS;
        csr.indptr = indptr;
        csr.indices = indices;
        csr.values = values;
        assert_ok(csrconv_weights_from_csr(&csr, NULL, &weights));
        view = view_of(weights);
        for (int32_t i = 0; i < COLUMNS; i++) {
            assert_int_equal(view.indices[i], i);
            assert_true(view.values[i] == (float)i + 1.0F);
        }
        csrconv_weights_destroy(&weights);
    }
}

static void stored_zeros_are_dropped(void **state)
{
    const int64_t indptr[] = { 0, 3, 5, 6 }, kept_indptr[] = { 0, 1, 2, 2 };
    const int32_t indices[] = { 0, 2, 4, 1, 5, 3 }, kept[] = { 2, 5 };
    const float values[] = { 0, 7, -0.0F, -0.0F, 8, 0 }, kept_values[] = { 7, 8 };
    const csrconv_csr csr = csr_of(indptr, indices, values);
    csrconv_weights *weights;
    (void)state;
    assert_ok(csrconv_weights_from_csr(&csr, NULL, &weights));
    assert_rows(weights, kept_indptr, kept, kept_values);
    csrconv_weights_destroy(&weights);
}

static void no_nonzeros_at_all_is_fine(void **state)
{
    const int64_t indptr[] = { 0, 0, 0, 0 };
    const csrconv_csr csr = csr_of(indptr, NULL, NULL);
    const float dense[18] = { 0 };
    csrconv_weights *weights;
    (void)state;
    assert_ok(csrconv_weights_from_csr(&csr, NULL, &weights));
    assert_rows(weights, indptr, NULL, NULL);
    csrconv_weights_destroy(&weights);
    assert_ok(csrconv_weights_from_dense(dense, 3, 2, 1, 3, NULL, &weights));
    assert_rows(weights, indptr, NULL, NULL);
    csrconv_weights_destroy(&weights);
}

static void bad_rows_are_named(void **state)
{
    static const struct {
        int64_t indptr[4];
        int32_t indices[6];
        float values[6];
        const char *fragment;
    } cases[] = {
        { { 0, 2, 4, 6 }, { 0, 1, 0, 1, 3, 3 }, { 1, 1, 1, 1, 1, 1 }, "row 2: column 3" },
        { { 0, 0, 4, 4 }, { 5, 0, 2, 5 }, { 1, 1, 1, 1 }, "row 1: column 5 stands there twice" },
        { { 0, 0, 2, 2 }, { 4, 4 }, { 0, 1 }, "row 1: column 4 stands there twice" },
        { { 0, 0, 2, 2 }, { 4, 4 }, { 1, -0.0F }, "row 1: column 4 stands there twice" },
        { { 0, 2, 2, 2 }, { 4, 4 }, { 0, 0 }, "row 0: column 4 stands there twice" },
        { { 0, 1, 2, 2 }, { 0, 6 }, { 1, 1 }, "row 1: column 6 is not in [0, 6)" },
        { { 0, 1, 2, 2 }, { 0, -1 }, { 1, 1 }, "row 1: column -1 is not in [0, 6)" },
        { { 0, 1, 1, 2 }, { 0, INT32_MAX }, { 1, 0 }, "row 2: column 2147483647" },
        { { 0, 1, 1, 2 }, { 0, INT32_MIN }, { 1, 1 }, "row 2: column -2147483648" },
        { { 0, 4, 3, 6 }, { 0, 1, 2, 3, 4, 5 }, { 1, 1, 1, 1, 1, 1 }, "row 1: indptr falls" },
        { { 0, 2, 2, 1 }, { 0, 1 }, { 1, 1 }, "row 2: indptr falls from 2 to 1" },
        { { 0, -1, 0, 0 }, { 0 }, { 1 }, "row 0: indptr falls from 0 to -1" },
        { { 1, 1, 1, 1 }, { 0 }, { 1 }, "indptr[0] is 1" },
        { { -1, 0, 0, 1 }, { 0 }, { 1 }, "indptr[0] is -1" },
        { { INT64_MIN, INT64_MAX, 0, 1 }, { 0 }, { 1 }, "indptr[0]" },
        { { 0, 0, 7, 7 }, { 0 }, { 1 }, "row 1: 7 entries in 6 columns" },
        { { 0, 1, 1, INT64_MAX }, { 0 }, { 1 }, "row 2: " },
    };
    (void)state;
    for (int i = 0; i < COUNT_OF(cases); i++) {
        const csrconv_csr csr = csr_of(cases[i].indptr, cases[i].indices, cases[i].values);
        refuse(&csr, CSRCONV_BAD_CSR, cases[i].fragment);
    }
}

static void missing_arrays_are_refused(void **state)
{
    const int64_t indptr[] = { 0, 1, 1, 1 };
    const int32_t indices[] = { 0 };
    const float values[] = { 1 };
    csrconv_csr csr = csr_of(NULL, indices, values);
    csrconv_weights *weights = NULL;
    (void)state;
    refuse(&csr, CSRCONV_BAD_ARGUMENT, "csr.indptr is NULL");
    csr = csr_of(indptr, NULL, values);
    refuse(&csr, CSRCONV_BAD_ARGUMENT, "csr.indices is NULL");
    csr = csr_of(indptr, indices, NULL);
    refuse(&csr, CSRCONV_BAD_ARGUMENT, "csr.values is NULL");
    refuse(NULL, CSRCONV_BAD_ARGUMENT, "csr is NULL");
    csr = csr_of(indptr, indices, values);
    assert_fails(csrconv_weights_from_csr(&csr, NULL, NULL), CSRCONV_BAD_ARGUMENT, "out is NULL");
    csr.struct_size--;
    refuse(&csr, CSRCONV_VERSION_MISMATCH, "csrconv_csr.struct_size");
    assert_fails(csrconv_weights_from_dense(values, 1, 1, 1, 1, NULL, NULL), CSRCONV_BAD_ARGUMENT,
                 "out is NULL");
    assert_fails(csrconv_weights_from_dense(NULL, 1, 1, 1, 1, NULL, &weights), CSRCONV_BAD_ARGUMENT,
                 "oihw is NULL");
}

static void sizes_that_cannot_be_are_refused(void **state)
{
    static const struct {
        int64_t filters, channels, kernel_h, kernel_w;
        const char *fragment;
    } cases[] = {
        { 0, 1, 1, 1, "filters 0" },
        { 1, 0, 1, 1, "channels_per_group 0" },
        { 1, 1, 0, 1, "kernel 0 x 1" },
        { 1, 1, 1, -3, "kernel 1 x -3" },
        { INT64_MAX, 1, 1, 1, "filters is 9223372036854775807" },
        { 1, INT64_C(1) << 31, 1, 1, "2^31 - 1 columns" },
        { 1, INT64_C(1) << 29, 2, 2, "2^31 - 1 columns" },
        { 1, INT64_MAX, INT64_MAX, INT64_MAX, "2^31 - 1 columns" },
        { 1, 1, INT64_C(1) << 32, INT64_C(1) << 32, "2^31 - 1 columns" },
        { INT64_C(1) << 40, INT32_MAX, 1, 1, "address space" },
    };
    const float dense[1] = { 1 };
    const int64_t indptr[2] = { 0, 0 };
    (void)state;
    for (int i = 0; i < COUNT_OF(cases); i++) {
        csrconv_csr csr = csr_of(indptr, NULL, NULL);
        csrconv_weights *weights;
        assert_fails(csrconv_weights_from_dense(dense, cases[i].filters, cases[i].channels,
                                                cases[i].kernel_h, cases[i].kernel_w, NULL,
                                                &weights),
                     CSRCONV_BAD_GEOMETRY, cases[i].fragment);
        assert_null(weights);
        csr.filters = cases[i].filters;
        csr.channels_per_group = cases[i].channels;
        csr.kernel_h = cases[i].kernel_h;
        csr.kernel_w = cases[i].kernel_w;
        if (i < COUNT_OF(cases) - 1) /* in CSR the last one only needs its row pointers */
            refuse(&csr, CSRCONV_BAD_GEOMETRY, cases[i].fragment);
    }
}

static void the_most_columns_there_can_be(void **state)
{
    const int64_t indptr[] = { 0, 2 };
    const int32_t indices[] = { INT32_MAX - 1, 0 };
    const float values[] = { 1, 2 };
    csrconv_csr csr = csr_of(indptr, indices, values);
    csrconv_weights *weights;
    (void)state;
    csr.filters = csr.kernel_w = 1;
    csr.channels_per_group = INT32_MAX;
    assert_ok(csrconv_weights_from_csr(&csr, NULL, &weights));
    assert_int_equal(view_of(weights).indices[1], INT32_MAX - 1);
    csrconv_weights_destroy(&weights);
}

static void views_and_destroy_take_bad_calls(void **state)
{
    const float dense[1] = { 1 };
    csrconv_weights *weights = NULL;
    csrconv_csr view;
    (void)state;
    csrconv_weights_destroy(NULL);
    csrconv_weights_destroy(&weights);
    csrconv_csr_init(&view);
    assert_fails(csrconv_weights_view(NULL, &view), CSRCONV_BAD_ARGUMENT, "weights is NULL");
    assert_ok(csrconv_weights_from_dense(dense, 1, 1, 1, 1, NULL, &weights));
    assert_fails(csrconv_weights_view(weights, NULL), CSRCONV_BAD_ARGUMENT, "view is NULL");
    view.struct_size = 3;
    assert_fails(csrconv_weights_view(weights, &view), CSRCONV_VERSION_MISMATCH,
                 "struct_size is 3");
    csrconv_weights_destroy(&weights);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dense_becomes_rows_of_what_is_not_zero),
        cmocka_unit_test(nan_infinity_and_denormals_are_weights),
        cmocka_unit_test(columns_are_sorted_and_nothing_given_is_kept),
        cmocka_unit_test(every_order_of_a_row_gives_the_same),
        cmocka_unit_test(stored_zeros_are_dropped),
        cmocka_unit_test(no_nonzeros_at_all_is_fine),
        cmocka_unit_test(bad_rows_are_named),
        cmocka_unit_test(missing_arrays_are_refused),
        cmocka_unit_test(sizes_that_cannot_be_are_refused),
        cmocka_unit_test(the_most_columns_there_can_be),
        cmocka_unit_test(views_and_destroy_take_bad_calls),
    };
    return cmocka_run_group_tests_name("csr", tests, NULL, NULL);
}
