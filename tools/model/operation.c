#include "operator.h"

#include "complain.h"
#include "node.h"

#include <stdarg.h>
#include <stdio.h>

int operation_complain(const struct operation *operation, int code, const char *format, ...)
{
    char what[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    return node_complain(operation->model, operation->node, code, "%s", what);
}

const struct tensor *operation_input(const struct operation *operation, size_t index)
{
    return index < operation->node->input_count ? operation->inputs[index] : NULL;
}

int operation_check_rank(const struct operation *operation, int least, int most)
{
    const struct tensor *const x = operation->inputs[0];
    char shape[TENSOR_SHAPE_TEXT];
    if (x->rank >= least && x->rank <= most)
        return EXIT_DONE;
    return operation_complain(operation, EXIT_REFUSED, "an input of shape %s is not supported",
                              tensor_shape_text(x->rank, x->dims, shape));
}

static int64_t product(const struct tensor *tensor, int first, int end)
{
    int64_t count = 1;
    for (int i = first; i < end; i++)
        count *= tensor->dims[i];
    return count;
}

int64_t tensor_outer(const struct tensor *tensor, int axis)
{
    return product(tensor, 0, axis);
}

int64_t tensor_inner(const struct tensor *tensor, int axis)
{
    return product(tensor, axis, tensor->rank);
}
