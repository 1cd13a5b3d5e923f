#include "conv_plan.h"

#include "complain.h"
#include "conv.h"
#include "selection.h"

#include <stdlib.h>

/* A constant input as floats; NULL if the node has no such input. */
static int take_floats(const struct operation *operation, size_t input, const char *what,
                       float **out)
{
    *out = NULL;
    if (model_node_input(operation->node, input) == MODEL_NONE)
        return EXIT_DONE;
    const struct model_tensor *const t =
        model_constant_input(operation->model, operation->node, input);
    if (!t)
        return operation_complain(operation, EXIT_REFUSED, "its %s is no constant", what);
    return model_floats(operation->model, t, out);
}

static int make_plan(const struct operation *operation, const float *weights,
                     const csrconv_plan_options *options, csrconv_plan **out)
{
    csrconv_weights *bank = NULL;
    csrconv_geometry g;
    int code = conv_geometry(operation, &g);
    if (code)
        return code;
    csrconv_status status = csrconv_weights_from_dense(weights, g.filters, g.channels / g.groups,
                                                       g.kernel_h, g.kernel_w, NULL, &bank);
    if (!status)
        status = csrconv_plan_create(bank, &g, options, out);
    if (status)
        code = selection_complain(operation->model->values[operation->node->outputs[0]].name, status);
    csrconv_weights_destroy(&bank);
    return code;
}

int conv_plan_create(const struct operation *operation, const csrconv_plan_options *options,
                     csrconv_plan **out)
{
    csrconv_plan_options own = *options;
    float *weights = NULL, *bias = NULL;
    int code = take_floats(operation, 1, "weights", &weights);
    if (!code)
        code = take_floats(operation, 2, "bias", &bias);
    own.epilogue.bias = bias;
    if (!code)
        code = make_plan(operation, weights, &own, out);
    free(weights);
    free(bias);
    return code;
}
