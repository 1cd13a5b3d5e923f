#include "window.h"

#include "complain.h"

#include <inttypes.h>
#include <string.h>

/* Wider than any image; sums of a few products of two such fit 64 bits. */
#define MOST ((int64_t)1 << 30)

/* Fills count numbers from an attribute; those not given are `otherwise`. */
static int take(const struct operation *operation, const char *name, int count, int64_t least,
                int64_t otherwise, int64_t *out)
{
    struct operation_ints ints;
    const int code = operation_ints(operation, name, MODEL_NONE, &ints);
    if (code)
        return code;
    if (ints.count != -1 && ints.count != count)
        return operation_complain(operation, EXIT_REFUSED, "its %s is not of two dimensions", name);
    for (int i = 0; i < count; i++) {
        out[i] = ints.count == -1 ? otherwise : ints.items[i];
        if (out[i] < least || out[i] > MOST)
            return operation_complain(operation, EXIT_BAD, "its %s has a %" PRId64, name, out[i]);
    }
    return EXIT_DONE;
}

static int take_kernel(const struct operation *operation, const int64_t *kernel, struct window *w)
{
    int64_t given[2];
    const int code = take(operation, "kernel_shape", 2, 0, 0, given);
    if (code)
        return code;
    memcpy(w->kernel, kernel ? kernel : given, sizeof w->kernel);
    if (w->kernel[0] < 1 || w->kernel[1] < 1)
        return operation_complain(operation, EXIT_BAD, "it has no kernel");
    if (given[0] && memcmp(w->kernel, given, sizeof given) != 0)
        return operation_complain(operation, EXIT_BAD,
                                  "its kernel_shape is not that of its weights");
    return EXIT_DONE;
}

/* What the kernel covers of a row or a column. */
static int64_t extent(const struct window *w, int i)
{
    return w->dilation[i] * (w->kernel[i] - 1) + 1;
}

/* Padding such that there are ceil(image / stride) windows. */
static void pad_to_same(struct window *w, bool is_upper)
{
    for (int i = 0; i < 2; i++) {
        const int64_t out = (w->image[i] + w->stride[i] - 1) / w->stride[i];
        const int64_t missing = (out - 1) * w->stride[i] + extent(w, i) - w->image[i];
        const int64_t all = missing > 0 ? missing : 0;
        w->begin[i] = is_upper ? all / 2 : all - all / 2;
        w->end[i] = all - w->begin[i];
    }
}

static int take_padding(const struct operation *operation, struct window *w)
{
    const char *const automatic = model_attribute_string(operation->node, "auto_pad", "NOTSET");
    const bool is_upper = strcmp(automatic, "SAME_UPPER") == 0;
    int64_t pads[4] = { 0 };
    if (is_upper || strcmp(automatic, "SAME_LOWER") == 0) {
        pad_to_same(w, is_upper);
        return EXIT_DONE;
    }
    if (strcmp(automatic, "NOTSET") == 0) {
        const int code = take(operation, "pads", 4, 0, 0, pads);
        if (code)
            return code;
    } else if (strcmp(automatic, "VALID") != 0) {
        return operation_complain(operation, EXIT_BAD, "its auto_pad is \"%.20s\"", automatic);
    }
    memcpy(w->begin, pads, sizeof w->begin);
    memcpy(w->end, pads + 2, sizeof w->end);
    return EXIT_DONE;
}

static int count_windows(const struct operation *operation, struct window *w)
{
    const bool rounds_up = model_attribute_int(operation->node, "ceil_mode", 0) != 0;
    for (int i = 0; i < 2; i++) {
        const int64_t room = w->image[i] + w->begin[i] + w->end[i] - extent(w, i);
        if (room < 0)
            return operation_complain(
                operation, EXIT_BAD, "its kernel covers %" PRId64 " of %" PRId64 " padded %s",
                extent(w, i), room + extent(w, i), i == 0 ? "rows" : "columns");
        w->out[i] = (room + (rounds_up ? w->stride[i] - 1 : 0)) / w->stride[i] + 1;
        /* No window begins in the padding behind the image. */
        if (rounds_up && (w->out[i] - 1) * w->stride[i] >= w->image[i] + w->begin[i])
            w->out[i]--;
    }
    return EXIT_DONE;
}

int window_of(const struct operation *operation, const int64_t *kernel, struct window *out)
{
    int code;
    for (int i = 0; i < 2; i++) {
        out->image[i] = operation->inputs[0]->dims[2 + i];
        if (out->image[i] < 1 || out->image[i] > MOST)
            return operation_complain(operation, EXIT_BAD, "its input has %" PRId64 " %s",
                                      out->image[i], i == 0 ? "rows" : "columns");
    }
    if ((code = take_kernel(operation, kernel, out)) ||
        (code = take(operation, "strides", 2, 1, 1, out->stride)) ||
        (code = take(operation, "dilations", 2, 1, 1, out->dilation)) ||
        (code = take_padding(operation, out)))
        return code;
    return count_windows(operation, out);
}
