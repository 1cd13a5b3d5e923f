/* .npy: every float type, both byte orders and element orders, and headers that lie. */
#include "format_helpers.h"

#include <math.h>
#include <stdio.h>

#define DICT(descr, order, shape)                                                                  \
    "{'descr': '" descr "', 'fortran_order': " order ", 'shape': " shape ", }  \n"

static void assert_reads(struct bytes file, int rank, const int64_t *dims, const float *values,
                         const char *note)
{
    struct tensor tensor;
    if (read_bytes(file.data, file.size, &tensor) != EXIT_DONE)
        fail_msg("refused: %s", complaint());
    assert_int_equal(tensor.kind, TENSOR_DENSE);
    assert_int_equal(tensor.rank, rank);
    for (int i = 0; i < rank; i++)
        assert_int_equal(tensor.dims[i], dims[i]);
    assert_floats(tensor.values, values, tensor_count(&tensor));
    assert_string_equal(tensor.note, note);
    tensor_free(&tensor);
}

static void assert_dict_refused(const char *dict, const char *part)
{
    const uint8_t payload[24] = { 0 };
    const struct bytes file = npy_bytes(dict, payload, sizeof payload);
    assert_refused(file.data, file.size, part);
}

static const int64_t two_by_three[] = { 2, 3 };
static const float six[] = { 1.0F, 2.0F, 3.0F, 4.0F, 5.0F, 6.0F };

/* Bytes of six[] in that width and order. */
static struct bytes six_of(const char *dict, int size, bool big_endian, const int *order)
{
    uint8_t payload[48];
    for (int i = 0; i < 6; i++) {
        static const uint64_t halves[] = { 0x3c00, 0x4000, 0x4200, 0x4400, 0x4500, 0x4600 };
        const double wide = (double)six[order[i]];
        uint64_t bits = halves[order[i]];
        uint32_t single;
        memcpy(&single, &six[order[i]], 4);
        if (size == 4)
            bits = single;
        if (size == 8)
            memcpy(&bits, &wide, 8);
        for (int b = 0; b < size; b++)
            payload[size * i + (big_endian ? size - 1 - b : b)] = (uint8_t)(bits >> 8 * b);
    }
    return npy_bytes(dict, payload, (size_t)size * 6);
}

static void reads_every_float_type(void **state)
{
    static const int c_order[] = { 0, 1, 2, 3, 4, 5 };
    (void)state;
    assert_reads(six_of(DICT("<f4", "False", "(2, 3)"), 4, false, c_order), 2, two_by_three, six,
                 "");
    assert_reads(six_of(DICT("<f8", "False", "(2, 3)"), 8, false, c_order), 2, two_by_three, six,
                 "float64 converted to float32");
    assert_reads(six_of(DICT("<f2", "False", "(2, 3)"), 2, false, c_order), 2, two_by_three, six,
                 "float16 converted to float32");
    assert_reads(six_of(DICT(">f4", "False", "(2, 3)"), 4, true, c_order), 2, two_by_three, six,
                 "big-endian converted");
    assert_reads(six_of(DICT(">f8", "False", "(2, 3)"), 8, true, c_order), 2, two_by_three, six,
                 "big-endian converted; float64 converted to float32");
}

static void reads_fortran_order(void **state)
{
    static const int fortran[] = { 0, 3, 1, 4, 2, 5 };      /* of (2, 3) */
    static const int fortran_cube[] = { 0, 3, 1, 4, 2, 5 }; /* of (2, 1, 3) */
    static const int64_t cube[] = { 2, 1, 3 };
    (void)state;
    assert_reads(six_of(DICT("<f4", "True", "(2, 3)"), 4, false, fortran), 2, two_by_three, six,
                 "Fortran order converted");
    assert_reads(six_of(DICT("<f4", "True", "(2, 1, 3)"), 4, false, fortran_cube), 3, cube, six,
                 "Fortran order converted");
    assert_reads(six_of(DICT("<f4", "True", "(6,)"), 4, false, (const int[]){ 0, 1, 2, 3, 4, 5 }),
                 1, (const int64_t[]){ 6 }, six, "");
}

static void reads_special_halves(void **state)
{
    const uint16_t halves[] = { 0x0001, 0x83ff, 0x0400, 0x7bff, 0x7c00, 0xfc00, 0x8000 };
    const float want[] = {
        0x1p-24F, -0x1.ff8p-15F, 0x1p-14F, 65504.0F, INFINITY, -INFINITY, -0.0F
    };
    const uint16_t nan_bits[] = { 0x7e01 };
    struct tensor tensor;
    (void)state;
    assert_reads(npy_bytes(DICT("<f2", "False", "(7,)"), halves, sizeof halves), 1,
                 (const int64_t[]){ 7 }, want, "float16 converted to float32");
    const struct bytes file = npy_bytes(DICT("<f2", "False", "()"), nan_bits, 2);
    assert_int_equal(read_bytes(file.data, file.size, &tensor), EXIT_DONE);
    assert_true(isnan(tensor.values[0]));
    tensor_free(&tensor);
}

static void says_that_doubles_overflowed(void **state)
{
    const double wide[] = { 1e39, -1e300, HUGE_VAL, 3e38 };
    const float want[] = { INFINITY, -INFINITY, INFINITY, 3e38F };
    (void)state;
    assert_reads(npy_bytes(DICT("<f8", "False", "(4,)"), wide, sizeof wide), 1,
                 (const int64_t[]){ 4 }, want,
                 "float64 converted to float32; 2 values beyond float32 became infinite");
}

static void reads_headers_of_any_layout(void **state)
{
    const float one[] = { 1.0F };
    const int64_t dim[] = { 1 };
    struct bytes wide = { .size = 0 };
    const char dict[] = DICT("<f4", "False", "(1,)");
    (void)state;
    assert_reads(npy_bytes("{\"shape\":(1,),\"fortran_order\":False,\"descr\":\"<f4\"}", one, 4), 1,
                 dim, one, "");
    assert_reads(
        npy_bytes(" { 'fortran_order' : False , 'shape' : ( 1 , ) , 'descr' : '=f4' } ", one, 4), 1,
        dim, one, "");
    for (uint8_t version = 2; version <= 3; version++) {
        wide.size = 0;
        append(&wide, "\x93NUMPY", 6);
        append(&wide, (const uint8_t[]){ version, 0, sizeof dict - 1, 0, 0, 0 }, 6);
        append(&wide, dict, sizeof dict - 1);
        append(&wide, one, 4);
        assert_reads(wide, 1, dim, one, "");
    }
}

static void reads_no_dimensions_and_no_elements(void **state)
{
    const float one[] = { 1.0F };
    (void)state;
    assert_reads(npy_bytes(DICT("<f4", "False", "()"), one, 4), 0, NULL, one, "");
    assert_reads(npy_bytes(DICT("<f4", "False", "(0, 3)"), one, 0), 2, (const int64_t[]){ 0, 3 },
                 one, "");
    assert_reads(npy_bytes(DICT("<f4", "True", "(4611686018427387904, 0, 8)"), one, 0), 3,
                 (const int64_t[]){ INT64_C(1) << 62, 0, 8 }, one, "Fortran order converted");
}

static void refuses_other_types(void **state)
{
    (void)state;
    assert_dict_refused(DICT("<i4", "False", "(6,)"), "'<i4'; float16, float32 or float64");
    assert_dict_refused(DICT("|b1", "False", "(24,)"), "'|b1'");
    assert_dict_refused(DICT("<c8", "False", "(3,)"), "'<c8'");
    assert_dict_refused(DICT("<f16", "False", "(1,)"), "'<f16'");
    assert_dict_refused(DICT("|O", "False", "(3,)"), "cannot read its dtype '|O'");
    assert_dict_refused(DICT("<M8[ns]", "False", "(3,)"), "cannot read its dtype '<M8[ns]'");
    assert_dict_refused(DICT("|V999999999", "False", "(3,)"), "cannot read its dtype");
    assert_dict_refused("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (6,)}",
                        "no plain dtype");
}

static void refuses_sizes_that_do_not_agree(void **state)
{
    (void)state;
    assert_dict_refused(DICT("<f4", "False", "(5,)"), "makes 90 bytes, but the file has 94");
    assert_dict_refused(DICT("<f4", "False", "(7,)"), "shape (7,) of '<f4' makes");
    assert_dict_refused(DICT("<f4", "False", "(1000000000, 1000000000)"), "but the file has");
    assert_dict_refused(DICT("<f4", "False", "(4611686018427387904,)"), "is too large");
    assert_dict_refused(DICT("<f4", "False", "(4294967296, 4294967296)"), "is too large");
    assert_dict_refused(DICT("<f4", "False", "(99999999999999999999,)"), "dimension 0");
    assert_dict_refused(DICT("<f4", "False", "(-1,)"), "dimension 0");
    assert_dict_refused(DICT("<f4", "False", "(1,1,1,1,1,1,1,1,6)"), "more than 8 dimensions");
}

static void refuses_broken_headers(void **state)
{
    (void)state;
    assert_dict_refused("{'descr': '<f4', 'shape': (6,)}", "lacks 'fortran_order'");
    assert_dict_refused("{'fortran_order': False, 'shape': (6,)}", "lacks 'descr'");
    assert_dict_refused("{'descr': '<f4', 'fortran_order': False}", "lacks 'shape'");
    assert_dict_refused("{'descr': '<f4', 'descr': '<f4'}", "key 'descr' twice");
    assert_dict_refused("{'colour': 'red'}", "key 'colour'");
    assert_dict_refused(DICT("<f4", "Maybe", "(6,)"), "neither True nor False");
    assert_dict_refused(DICT("<f4", "False", "6"), "is no tuple");
    assert_dict_refused(DICT("<f4", "False", "(6"), "dimension 1");
    assert_dict_refused(DICT("<f4", "False", "(2.0, 3)"), "dimension 0");
    assert_dict_refused(DICT("<f4", "False", "(6,)") "x", "goes on after");
    assert_dict_refused("", "no Python dict");
    assert_dict_refused("{", "cannot read the keys");
    assert_dict_refused("{'descr", "cannot read the keys");
    assert_dict_refused("{'descr': '<f4'", "no Python dict");
}

static void refuses_truncated_headers(void **state)
{
    const struct bytes file = npy_bytes(DICT("<f4", "False", "(6,)"), six, sizeof six);
    const uint8_t huge[] = { 0x93, 'N', 'U', 'M', 'P', 'Y', 2, 0, 0xff, 0xff, 0xff, 0xff };
    const uint8_t future[] = { 0x93, 'N', 'U', 'M', 'P', 'Y', 4, 0, 0, 0, 0, 0 };
    (void)state;
    for (size_t size = 1; size < file.size; size++)
        assert_refused(file.data, size, "");
    assert_refused(huge, sizeof huge, "header of 4294967295 bytes");
    assert_refused(future, sizeof future, "version 4.0");
}

static void writes_what_it_reads(void **state)
{
    const float values[] = { 0.1F, -0.0F, INFINITY, 1e-45F, 0.0F, 3.0F };
    struct tensor tensor, again;
    (void)state;
    for (int rank = 0; rank <= TENSOR_MAX_RANK; rank++) {
        const int64_t dims[TENSOR_MAX_RANK] = { 1, 1, rank == 3 ? 6 : 1, 1, 1, 1, 1, 1 };
        assert_int_equal(tensor_make_dense("t", rank, dims, &tensor), EXIT_DONE);
        memcpy(tensor.values, values, (size_t)tensor_count(&tensor) * sizeof *values);
        write_and_read("npy", &tensor, &again);
        assert_int_equal(again.rank, rank);
        assert_memory_equal(again.dims, tensor.dims, sizeof tensor.dims);
        assert_floats(again.values, tensor.values, tensor_count(&tensor));
        tensor_free(&tensor);
        tensor_free(&again);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_every_float_type),
        cmocka_unit_test(reads_fortran_order),
        cmocka_unit_test(reads_special_halves),
        cmocka_unit_test(says_that_doubles_overflowed),
        cmocka_unit_test(reads_headers_of_any_layout),
        cmocka_unit_test(reads_no_dimensions_and_no_elements),
        cmocka_unit_test(refuses_other_types),
        cmocka_unit_test(refuses_sizes_that_do_not_agree),
        cmocka_unit_test(refuses_broken_headers),
        cmocka_unit_test(refuses_truncated_headers),
        cmocka_unit_test(writes_what_it_reads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
