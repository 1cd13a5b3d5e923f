#include "oracle.h"

#include <math.h>

/* Adds weight w at kernel position (r, s) of input plane `plane` to every output of the window. */
static void add_weight(const struct oracle *o, const struct oracle_window *v, const float *plane,
                       double w, int64_t r, int64_t s, double *want, double *magnitude)
{
    const csrconv_geometry *g = &o->geometry;
    const int64_t columns = v->right - v->left, shift = s * g->dilation_w - g->pad_left;
    int64_t begin = v->left, end = v->right;
    while (begin < end && begin * g->stride_w + shift < 0)
        begin++;
    while (end > begin && (end - 1) * g->stride_w + shift >= g->width)
        end--;
    for (int64_t y = v->top; y < v->bottom; y++) {
        const int64_t in_y = y * g->stride_h + r * g->dilation_h - g->pad_top;
        double *sum = want + (y - v->top) * columns - v->left;
        double *size = magnitude + (y - v->top) * columns - v->left;
        if (in_y < 0 || in_y >= g->height)
            continue;
        for (int64_t x = begin; x < end; x++) {
            const double product = w * (double)plane[in_y * g->width + x * g->stride_w + shift];
            sum[x] += product;
            size[x] += fabs(product);
        }
    }
}

static double activate(const struct oracle *o, double x)
{
    if (o->activation == CSRCONV_ACTIVATION_RELU)
        return x < 0.0 ? 0.0 : x;
    if (o->activation == CSRCONV_ACTIVATION_CLAMP)
        return x < (double)o->lo ? (double)o->lo : x > (double)o->hi ? (double)o->hi : x;
    return x;
}

static void finish(const struct oracle *o, const struct oracle_window *v, double *want,
                   double *magnitude)
{
    const int64_t columns = v->right - v->left;
    for (int64_t y = v->top; y < v->bottom; y++) {
        for (int64_t x = v->left; x < v->right; x++) {
            const int64_t i = (y - v->top) * columns + x - v->left;
            if (o->residual) {
                const double more = (double)o->residual[v->n * o->geometry.out_batch_stride +
                                                        (v->m * o->out_h + y) * o->out_w + x];
                want[i] += more;
                magnitude[i] += fabs(more);
            }
            want[i] = activate(o, want[i]);
        }
    }
}

void oracle_compute(const struct oracle *oracle, const struct oracle_window *window, double *want,
                    double *magnitude)
{
    const csrconv_geometry *g = &oracle->geometry;
    const int64_t count = (window->bottom - window->top) * (window->right - window->left);
    const int64_t group_channels = g->channels / g->groups;
    const int64_t first_channel = window->m / (g->filters / g->groups) * group_channels;
    const float *weight = oracle->weights + window->m * group_channels * g->kernel_h * g->kernel_w;
    const double bias = oracle->bias ? (double)oracle->bias[window->m] : 0.0;
    for (int64_t i = 0; i < count; i++) {
        want[i] = bias;
        magnitude[i] = fabs(bias);
    }
    for (int64_t c = 0; c < group_channels; c++) {
        const float *plane = oracle->in + window->n * g->in_batch_stride +
                             (first_channel + c) * g->height * g->width;
        for (int64_t r = 0; r < g->kernel_h; r++)
            for (int64_t s = 0; s < g->kernel_w; s++, weight++)
                if (*weight != 0.0F)
                    add_weight(oracle, window, plane, (double)*weight, r, s, want, magnitude);
    }
    finish(oracle, window, want, magnitude);
}
