/*
 * BatchNormalization behind a convolution is a scale and a shift of each of its filters' outputs:
 *     y = scale * (x - mean) / sqrt(var + epsilon) + shift
 */
#include "convolutions.h"

#include "complain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SCALE = 1, SHIFT, MEAN, VARIANCE, PARAMETERS };

static int read_parameters(const struct model *model, const struct model_node *node,
                           float *parameters[PARAMETERS])
{
    int code = EXIT_DONE;
    for (size_t i = SCALE; i < PARAMETERS && !code; i++)
        code = model_floats(model, model_constant_input(model, node, i), &parameters[i]);
    return code;
}

static void fold_filter(float factor, int64_t columns, float *weights)
{
    for (int64_t i = 0; i < columns; i++)
        weights[i] *= factor;
}

static int fold(const struct model *model, const struct convolution *c, float *weights, float *bias)
{
    const struct model_node *const node = &model->nodes[c->batch_norm];
    const float epsilon = model_attribute_float(node, "epsilon", 1e-5F);
    const int64_t filters = c->geometry.filters;
    const int64_t columns = model->tensors[c->weights].count / filters;
    float *parameters[PARAMETERS] = { NULL };
    const int code = read_parameters(model, node, parameters);
    for (int64_t m = 0; m < filters && !code; m++) {
        const float factor = parameters[SCALE][m] / sqrtf(parameters[VARIANCE][m] + epsilon);
        fold_filter(factor, columns, weights + m * columns);
        bias[m] = (bias[m] - parameters[MEAN][m]) * factor + parameters[SHIFT][m];
    }
    for (int i = SCALE; i < PARAMETERS; i++)
        free(parameters[i]);
    return code;
}

static int read_bias(const struct model *model, const struct convolution *c, bool is_needed,
                     float **bias)
{
    if (c->bias != MODEL_NONE)
        return model_floats(model, &model->tensors[c->bias], bias);
    if (is_needed && !(*bias = calloc((size_t)c->geometry.filters, sizeof **bias)))
        return complain(EXIT_WRONG, model->path, "out of memory");
    return EXIT_DONE;
}

int convolution_weights(const struct model *model, const struct convolution *convolution,
                        bool is_folded, float **weights, float **bias)
{
    const bool folds = is_folded && convolution->batch_norm != MODEL_NONE;
    *bias = NULL;
    int code = model_floats(model, &model->tensors[convolution->weights], weights);
    if (!code)
        code = read_bias(model, convolution, folds, bias);
    if (!code && folds)
        code = fold(model, convolution, *weights, *bias);
    if (code) {
        free(*weights);
        free(*bias);
        *weights = *bias = NULL;
    }
    return code;
}
