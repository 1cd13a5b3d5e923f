#include "conv.h"

#include "complain.h"
#include "families.h"
#include "window.h"

#include <inttypes.h>

static int check_shapes(const struct operation *operation, int64_t groups)
{
    const struct tensor *const x = operation->inputs[0], *const w = operation->inputs[1];
    const struct tensor *const bias = operation_input(operation, 2);
    int code;
    if ((code = operation_check_rank(operation, 0, 4)) ||
        (code = operation_check_rank(operation, 1, 4)))
        return code;
    if (groups < 1 || x->dims[1] % groups || w->dims[0] % groups ||
        x->dims[1] / groups != w->dims[1])
        return operation_complain(operation, EXIT_BAD,
                                  "%" PRId64 " groups, %" PRId64 " channels and %" PRId64
                                  " filters of %" PRId64 " channels do not go together",
                                  groups, x->dims[1], w->dims[0], w->dims[1]);
    if (bias && tensor_count(bias) != w->dims[0])
        return operation_complain(operation, EXIT_BAD, "its bias is not of %" PRId64 " filters",
                                  w->dims[0]);
    return EXIT_DONE;
}

int conv_geometry(const struct operation *operation, csrconv_geometry *out)
{
    const struct tensor *const x = operation->inputs[0], *const weights = operation->inputs[1];
    const int64_t groups = model_attribute_int(operation->node, "group", 1);
    struct window w;
    int code = check_shapes(operation, groups);
    if (!code)
        code = window_of(operation, weights->dims + 2, &w);
    if (code)
        return code;
    *out = (csrconv_geometry){ .struct_size = sizeof *out,
                               .batch = x->dims[0],
                               .channels = x->dims[1],
                               .height = w.image[0],
                               .width = w.image[1],
                               .filters = weights->dims[0],
                               .kernel_h = w.kernel[0],
                               .kernel_w = w.kernel[1],
                               .stride_h = w.stride[0],
                               .stride_w = w.stride[1],
                               .dilation_h = w.dilation[0],
                               .dilation_w = w.dilation[1],
                               .pad_top = w.begin[0],
                               .pad_left = w.begin[1],
                               .pad_bottom = w.end[0],
                               .pad_right = w.end[1],
                               .groups = groups };
    return EXIT_DONE;
}

int conv_shape(struct operation *operation)
{
    csrconv_geometry g;
    int64_t rows, columns;
    const int code = conv_geometry(operation, &g);
    if (code)
        return code;
    if (csrconv_output_size(&g, &rows, &columns))
        return operation_complain(operation, EXIT_BAD, "%s", csrconv_last_error());
    return operation_set_shape(operation, 4, (int64_t[]){ g.batch, g.filters, rows, columns });
}
