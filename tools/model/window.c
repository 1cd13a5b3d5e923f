#include "window.h"

#include "complain.h"
#include "node.h"

#include <inttypes.h>
#include <string.h>

/* Far beyond any image, and sums of products of two of them fit. */
#define MOST_SIZE ((int64_t)1 << 30)

static int refuse(const struct model *model, const struct model_node *node, const char *what)
{
    return node_complain(model, node, EXIT_BAD, "%s", what);
}

/* A list of `count` sizes of at least `least`; what is not given is left as it is. */
static int read_sizes(const struct model *model, const struct model_node *node, const char *name,
                      size_t count, int64_t least, int64_t *out)
{
    const struct model_attribute *const a = model_attribute(node, name, MODEL_ATTRIBUTE_INTS);
    if (!a)
        return EXIT_DONE;
    if (a->count != count)
        return node_complain(model, node, EXIT_BAD, "%s has %zu numbers, not %zu", name, a->count,
                             count);
    for (size_t i = 0; i < count; i++) {
        if (a->ints[i] < least || a->ints[i] > MOST_SIZE)
            return node_complain(model, node, EXIT_BAD, "%s has %" PRId64, name, a->ints[i]);
        out[i] = a->ints[i];
    }
    return EXIT_DONE;
}

static int read_kernel(const struct model *model, const struct model_node *node,
                       const int64_t *kernel, struct window *out)
{
    const int code = read_sizes(model, node, "kernel_shape", 2, 1, out->kernel);
    if (code || !kernel)
        return !code && !out->kernel[0] ? refuse(model, node, "it has no kernel_shape") : code;
    for (int i = 0; i < 2; i++) {
        if (kernel[i] < 1 || kernel[i] > MOST_SIZE)
            return refuse(model, node, "its kernel has no size");
        if (out->kernel[i] && out->kernel[i] != kernel[i])
            return refuse(model, node, "its kernel_shape is not that of its weights");
        out->kernel[i] = kernel[i];
    }
    return EXIT_DONE;
}

static int64_t extent(const struct window *w, int i)
{
    return w->dilation[i] * (w->kernel[i] - 1) + 1;
}

/* As many outputs as the stride makes of the image; an odd padding is larger on one side. */
static void pad_same(const int64_t image[2], bool is_upper, struct window *w)
{
    for (int i = 0; i < 2; i++) {
        const int64_t outputs = (image[i] + w->stride[i] - 1) / w->stride[i];
        const int64_t needed = (outputs - 1) * w->stride[i] + extent(w, i) - image[i];
        const int64_t padding = needed > 0 ? needed : 0;
        w->before[i] = is_upper ? padding / 2 : padding - padding / 2;
        w->after[i] = padding - w->before[i];
    }
}

static int read_padding(const struct model *model, const struct model_node *node,
                        const int64_t image[2], struct window *w)
{
    const char *const kind = model_attribute_string(node, "auto_pad", "NOTSET");
    int64_t pads[4] = { 0 };
    if (strcmp(kind, "SAME_UPPER") == 0 || strcmp(kind, "SAME_LOWER") == 0) {
        pad_same(image, strcmp(kind, "SAME_UPPER") == 0, w);
        return EXIT_DONE;
    }
    if (strcmp(kind, "VALID") == 0)
        return EXIT_DONE;
    if (strcmp(kind, "NOTSET") != 0 && *kind)
        return refuse(model, node, "its auto_pad is none of ONNX");
    const int code = read_sizes(model, node, "pads", 4, 0, pads);
    memcpy(w->before, pads, sizeof w->before);
    memcpy(w->after, pads + 2, sizeof w->after);
    return code;
}

/* Rounded up, a last window that would begin in the padding behind the image is left out. */
static int count_outputs(const struct model *model, const struct model_node *node,
                         const int64_t image[2], struct window *w)
{
    const bool is_ceil = model_attribute_int(node, "ceil_mode", 0) != 0;
    for (int i = 0; i < 2; i++) {
        const int64_t room = image[i] + w->before[i] + w->after[i] - extent(w, i);
        if (room < 0)
            return refuse(model, node, "its window is larger than the padded image");
        w->out[i] = (room + (is_ceil ? w->stride[i] - 1 : 0)) / w->stride[i] + 1;
        if (is_ceil && (w->out[i] - 1) * w->stride[i] >= image[i] + w->before[i])
            w->out[i]--;
    }
    return EXIT_DONE;
}

int window_read(const struct model *model, const struct model_node *node, const int64_t *kernel,
                const int64_t image[2], struct window *out)
{
    *out = (struct window){ .stride = { 1, 1 }, .dilation = { 1, 1 } };
    if (image[0] > MOST_SIZE || image[1] > MOST_SIZE)
        return refuse(model, node, "its image is too large");
    int code = read_kernel(model, node, kernel, out);
    if (!code)
        code = read_sizes(model, node, "strides", 2, 1, out->stride);
    if (!code)
        code = read_sizes(model, node, "dilations", 2, 1, out->dilation);
    if (!code)
        code = read_padding(model, node, image, out);
    return code ? code : count_outputs(model, node, image, out);
}
