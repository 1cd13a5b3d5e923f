#include "computations.h"

#include "complain.h"
#include "node.h"

#include <inttypes.h>
#include <math.h>

/* --------------------------------------------------------------------------- BatchNormalization */

static int check_batch_norm(const struct operation *operation)
{
    const struct tensor *const x = operation->inputs[0];
    const int code = operation_check_rank(operation, 2, TENSOR_MAX_RANK);
    if (code)
        return code;
    if (model_attribute_int(operation->node, "training_mode", 0) ||
        !model_attribute_int(operation->node, "spatial", 1))
        return operation_complain(operation, EXIT_REFUSED,
                                  "only the form of inference, by channels, is supported");
    for (size_t i = 1; i < 5; i++)
        if (tensor_count(operation->inputs[i]) != x->dims[1])
            return operation_complain(operation, EXIT_BAD,
                                      "input %zu is not of %" PRId64 " channels", i, x->dims[1]);
    return EXIT_DONE;
}

int batch_norm_compute(const struct operation *operation)
{
    const struct tensor *const *const in = operation->inputs;
    const int code = check_batch_norm(operation);
    if (code)
        return code;
    const float *const scale = in[1]->values, *const bias = in[2]->values;
    const float *const mean = in[3]->values, *const variance = in[4]->values;
    const float epsilon = model_attribute_float(operation->node, "epsilon", 1e-5F);
    const int64_t planes = tensor_outer(in[0], 2), size = tensor_inner(in[0], 2);
    for (int64_t i = 0; i < planes; i++) {
        const int64_t c = i % in[0]->dims[1];
        const float factor = scale[c] / sqrtf(variance[c] + epsilon);
        const float *const x = in[0]->values + i * size;
        float *const y = operation->output.values + i * size;
        for (int64_t k = 0; k < size; k++)
            y[k] = (x[k] - mean[c]) * factor + bias[c];
    }
    return EXIT_DONE;
}

/* ------------------------------------------------------------------------------------------ LRN */

/* Over the channels around each: `size` of them, the smaller half before it. */
int lrn_compute(const struct operation *operation)
{
    const struct tensor *const x = operation->inputs[0];
    const int64_t size = model_attribute_int(operation->node, "size", 0);
    const int code = operation_check_rank(operation, 3, TENSOR_MAX_RANK);
    if (code || size < 1)
        return code ? code : operation_complain(operation, EXIT_BAD, "it has no size");
    const int64_t channels = x->dims[1], plane = tensor_inner(x, 2);
    const int64_t before = (size - 1) / 2, after = size - 1 - before;
    const double alpha =
        (double)model_attribute_float(operation->node, "alpha", 1e-4F) / (double)size;
    const double beta = (double)model_attribute_float(operation->node, "beta", 0.75F);
    const double bias = (double)model_attribute_float(operation->node, "bias", 1.0F);
    for (int64_t i = 0; i < tensor_outer(x, 2); i++) {
        const int64_t c = i % channels;
        const int64_t first = c > before ? c - before : 0;
        const int64_t end = after < channels - c ? c + after + 1 : channels;
        const float *const image = x->values + (i - c) * plane;
        for (int64_t k = 0; k < plane; k++) {
            double squares = 0.0;
            for (int64_t j = first; j < end; j++)
                squares += pow((double)image[j * plane + k], 2.0);
            operation->output.values[i * plane + k] =
                (float)((double)image[c * plane + k] * pow(bias + alpha * squares, -beta));
        }
    }
    return EXIT_DONE;
}

/* -------------------------------------------------------------------------------------- Softmax */

/* Since operator set 13 over one axis; before, over all from that axis on. */
struct lines {
    int64_t outer, length, inner;
};

static int take_lines(const struct operation *operation, struct lines *out)
{
    const struct tensor *const x = operation->inputs[0];
    const bool is_old = operation->model->opset < 13;
    int axis;
    if (!node_axis(model_attribute_int(operation->node, "axis", is_old ? 1 : -1), x->rank, &axis))
        return operation_complain(operation, EXIT_BAD, "it has no such axis");
    out->outer = tensor_outer(x, axis);
    out->inner = is_old ? 1 : tensor_inner(x, axis + 1);
    out->length = tensor_inner(x, axis) / out->inner;
    return EXIT_DONE;
}

/* `length` elements, `step` apart. */
static void softmax_line(const float *x, float *y, int64_t length, int64_t step)
{
    float largest = x[0];
    double total = 0.0;
    for (int64_t i = 1; i < length; i++)
        largest = x[i * step] > largest ? x[i * step] : largest;
    for (int64_t i = 0; i < length; i++)
        total += (double)(y[i * step] = expf(x[i * step] - largest));
    for (int64_t i = 0; i < length; i++)
        y[i * step] = (float)((double)y[i * step] / total);
}

int softmax_compute(const struct operation *operation)
{
    struct lines lines = { 0 };
    const int code = take_lines(operation, &lines);
    if (code)
        return code;
    for (int64_t i = 0; i < lines.outer; i++)
        for (int64_t k = 0; k < lines.inner; k++) {
            const int64_t first = i * lines.length * lines.inner + k;
            softmax_line(operation->inputs[0]->values + first, operation->output.values + first,
                         lines.length, lines.inner);
        }
    return EXIT_DONE;
}
