#include "jit_positions.h"

/* An axis of which outputs 0 .. last are computed. */
static bool leaves(int64_t size, int64_t pad, int64_t at, int64_t stride, int64_t last)
{
    return at < pad || last * stride + at - pad >= size;
}

bool csrconv_jit_is_masked(const struct csrconv_shape *shape, int64_t position)
{
    const csrconv_geometry *g = &shape->g;
    const int64_t r = position / g->kernel_w, s = position % g->kernel_w;
    return leaves(g->height, g->pad_top, r * g->dilation_h, g->stride_h, shape->out_h - 1) ||
           leaves(g->width, g->pad_left, s * g->dilation_w, g->stride_w, shape->out_w - 1);
}

int64_t csrconv_jit_count_masked(const struct csrconv_shape *shape)
{
    int64_t masked = 0;
    for (int64_t i = 0; i < csrconv_jit_positions(shape); i++)
        masked += csrconv_jit_is_masked(shape, i);
    return masked;
}

int64_t csrconv_jit_other_registers(const struct csrconv_shape *shape)
{
    const int64_t positions = csrconv_jit_positions(shape), least_inputs = 4, addresses = 6;
    const int64_t kept = csrconv_jit_keeps_registers(shape) ? positions : CSRCONV_JIT_GROUP;
    const int64_t masks = (csrconv_jit_count_masked(shape) + 31) / 32;
    return addresses + masks + (kept > least_inputs ? kept : least_inputs);
}
