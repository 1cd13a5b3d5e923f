/* A model in memory: values, nodes and their order, attributes, shapes, folded weights. */
#include "format_helpers.h"

#include "model/convolutions.h"
#include "model/shapes.h"
#include "model/wire.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Of the corpus that the fuzzers start from, which make_corpus.py writes. */
static struct model read_corpus(const char *name)
{
    char path[256];
    struct model model;
    snprintf(path, sizeof path, "tests/fuzz/corpus/onnx/%s", name);
    complain_clear();
    if (model_read(path, &model) != EXIT_DONE)
        fail_msg("%s", complaint());
    return model;
}

static size_t value_named(const struct model *model, const char *name)
{
    for (size_t i = 0; i < model->value_count; i++)
        if (strcmp(model->values[i].name, name) == 0)
            return i;
    fail_msg("there is no value %s", name);
    return MODEL_NONE;
}

static void reads_a_graph(void **state)
{
    (void)state;
    struct model model = read_corpus("network");
    assert_true(model.has_graph);
    assert_int_equal(model.opset, 17);
    assert_int_equal(model.ir_version, 8);
    assert_string_equal(model.producer, "test");
    assert_int_equal(model.node_count, 17); /* the Constant became a tensor */
    assert_int_equal(model.input_count, 1);
    assert_int_equal(model.inputs[0].value, value_named(&model, "x"));
    assert_int_equal(model.inputs[0].shape.rank, 4);
    assert_int_equal(model.inputs[0].shape.dims[0], -1); /* "N" */
    assert_int_equal(model.inputs[0].shape.dims[2], 6);
    assert_int_equal(model.output_count, 1);
    assert_int_equal(model.outputs[0], value_named(&model, "y"));
    const struct model_value *const constant = &model.values[value_named(&model, "k")];
    assert_int_equal(constant->node, MODEL_NONE);
    assert_int_equal(model.tensors[constant->tensor].rank, 0);
    assert_int_equal(model.values[value_named(&model, "c")].node, 0);
    model_free(&model);
}

static void reads_attributes(void **state)
{
    (void)state;
    struct model model = read_corpus("network");
    const struct model_node *const conv = &model.nodes[0];
    const struct model_attribute *const strides =
        model_attribute(conv, "strides", MODEL_ATTRIBUTE_INTS);
    assert_string_equal(conv->name, "conv");
    assert_string_equal(conv->op, "Conv");
    assert_int_equal(strides->count, 2);
    assert_int_equal(strides->ints[0], 2);
    assert_string_equal(model_attribute_string(conv, "auto_pad", ""), "SAME_UPPER");
    assert_null(model_attribute(conv, "strides", MODEL_ATTRIBUTE_INT));
    assert_int_equal(model_attribute_int(conv, "group", 7), 7);
    assert_true(fabsf(model_attribute_float(&model.nodes[1], "epsilon", 0.0F) - 0.001F) < 1e-9F);
    const struct model_tensor *const weights = model_constant_input(&model, conv, 1);
    assert_string_equal(weights->name, "w");
    assert_null(model_constant_input(&model, conv, 0)); /* no constant */
    assert_null(model_constant_input(&model, conv, 3)); /* none such */
    model_free(&model);
}

static void puts_nodes_in_order(void **state)
{
    (void)state;
    struct model model = read_corpus("out_of_order");
    assert_int_equal(model.node_count, 2);
    assert_string_equal(model.nodes[0].op, "Conv");
    assert_string_equal(model.nodes[1].op, "Relu");
    assert_int_equal(model.values[value_named(&model, "a")].node, 0);
    assert_int_equal(model.values[value_named(&model, "y")].node, 1);
    model_free(&model);
}

static void assert_shape(const struct model *model, const struct shapes *shapes, const char *name,
                         int rank, const int64_t *dims)
{
    const struct model_shape *const shape = &shapes->of[value_named(model, name)];
    char got[TENSOR_SHAPE_TEXT], want[TENSOR_SHAPE_TEXT];
    assert_int_equal(shape->rank, rank);
    assert_string_equal(tensor_shape_text(rank, shape->dims, got),
                        tensor_shape_text(rank, dims, want));
}

static void follows_shapes(void **state)
{
    (void)state;
    struct model model = read_corpus("network");
    struct shapes shapes;
    assert_int_equal(shapes_make(&model, NULL, &shapes), EXIT_DONE);
    assert_string_equal(shapes.why, "");
    assert_shape(&model, &shapes, "c", 4, (const int64_t[]){ 1, 2, 3, 6 });
    assert_shape(&model, &shapes, "p", 4, (const int64_t[]){ 1, 2, 2, 3 }); /* rounded up */
    assert_shape(&model, &shapes, "cat", 4, (const int64_t[]){ 1, 4, 2, 3 });
    assert_shape(&model, &shapes, "padded", 4, (const int64_t[]){ 1, 4, 4, 5 });
    assert_shape(&model, &shapes, "t", 4, (const int64_t[]){ 1, 4, 5, 4 });
    assert_shape(&model, &shapes, "f", 2, (const int64_t[]){ 1, 4 });
    assert_shape(&model, &shapes, "u", 3, (const int64_t[]){ 1, 1, 4 });
    assert_shape(&model, &shapes, "z", 2, (const int64_t[]){ 1, 4 });
    assert_shape(&model, &shapes, "h", 2, (const int64_t[]){ 1, 3 });
    assert_shape(&model, &shapes, "e", 1, (const int64_t[]){ 1 });
    shapes_free(&shapes);
    model_free(&model);
}

static void folds_batch_normalization(void **state)
{
    static const float parameter[] = { 1.0F, 0.5F }; /* scale, shift, mean and variance alike */
    static const float own_bias[] = { 1.0F, 2.0F };
    (void)state;
    struct model model = read_corpus("network");
    struct convolution_list list;
    float *plain, *folded, *bias;
    assert_int_equal(convolutions_of(&model, NULL, &list), EXIT_DONE);
    assert_int_equal(list.count, 1);
    const struct convolution *const c = &list.items[0];
    assert_int_equal(c->batch_norm, 1);
    assert_int_equal(convolution_weights(&model, c, false, &plain, &bias), EXIT_DONE);
    assert_floats(bias, own_bias, 2);
    free(bias);
    assert_int_equal(convolution_weights(&model, c, true, &folded, &bias), EXIT_DONE);
    for (int m = 0; m < 2; m++) {
        const float factor = parameter[m] / sqrtf(parameter[m] + 0.001F);
        const float want = (own_bias[m] - parameter[m]) * factor + parameter[m];
        assert_true(fabsf(bias[m] - want) < 1e-6F);
        for (int i = 0; i < 9; i++)
            assert_true(fabsf(folded[9 * m + i] - plain[9 * m + i] * factor) < 1e-6F);
    }
    free(plain);
    free(folded);
    free(bias);
    convolution_list_free(&list);
    model_free(&model);
}

static void reads_varints(void **state)
{
    static const uint8_t bytes[] = { 0xac, 0x02, 0x80, 0x80, 0x00, 0xff, 0xff, 0xff,
                                     0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01, 0x80 };
    struct wire wire = wire_of(bytes, (struct model_span){ 0, sizeof bytes });
    uint64_t value;
    (void)state;
    assert_true(wire_varint(&wire, &value));
    assert_int_equal(value, 300);
    assert_true(wire_varint(&wire, &value)); /* longer than it needs to be */
    assert_int_equal(value, 0);
    assert_true(wire_varint(&wire, &value));
    assert_true(value == UINT64_MAX);
    assert_false(wire_varint(&wire, &value)); /* cut off */
}

static void reads_repeated_numbers(void **state)
{
    /* 7 alone, then 1 and 2 packed, then 9 alone; a field of another number in between. */
    static const uint8_t bytes[] = { 0x08, 7, 0x10, 5, 0x0a, 2, 1, 2, 0x08, 9 };
    const struct wire wire = wire_of(bytes, (struct model_span){ 0, sizeof bytes });
    struct wire_numbers numbers = wire_numbers_of(wire, 1, WIRE_VARINT);
    static const uint64_t want[] = { 7, 1, 2, 9 };
    uint64_t value;
    (void)state;
    assert_true(wire_is_sound(wire));
    assert_int_equal(wire_count_numbers(numbers), 4);
    for (int i = 0; i < 4; i++) {
        assert_true(wire_next_number(&numbers, &value));
        assert_int_equal(value, want[i]);
    }
    assert_false(wire_next_number(&numbers, &value));
    assert_false(wire_is_sound(wire_of(bytes, (struct model_span){ 0, 7 })));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_a_graph),
        cmocka_unit_test(reads_attributes),
        cmocka_unit_test(puts_nodes_in_order),
        cmocka_unit_test(follows_shapes),
        cmocka_unit_test(folds_batch_normalization),
        cmocka_unit_test(reads_varints),
        cmocka_unit_test(reads_repeated_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
