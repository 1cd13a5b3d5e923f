#include "geometry.h"

#include "checked.h"
#include "status.h"

struct member {
    const char *name;
    int64_t value;
    int64_t least;
};

static csrconv_status check_members(const csrconv_geometry *g)
{
    const struct member members[] = {
        { "batch", g->batch, 1 },
        { "channels", g->channels, 1 },
        { "height", g->height, 1 },
        { "width", g->width, 1 },
        { "filters", g->filters, 1 },
        { "kernel_h", g->kernel_h, 1 },
        { "kernel_w", g->kernel_w, 1 },
        { "stride_h", g->stride_h, 1 },
        { "stride_w", g->stride_w, 1 },
        { "dilation_h", g->dilation_h, 1 },
        { "dilation_w", g->dilation_w, 1 },
        { "pad_top", g->pad_top, 0 },
        { "pad_left", g->pad_left, 0 },
        { "pad_bottom", g->pad_bottom, 0 },
        { "pad_right", g->pad_right, 0 },
        { "groups", g->groups, 1 },
        { "in_batch_stride", g->in_batch_stride, 0 },
        { "out_batch_stride", g->out_batch_stride, 0 },
    };
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        if (members[i].value < members[i].least)
            return csrconv_fail(CSRCONV_BAD_GEOMETRY, "%s is %lld, must be at least %lld",
                                members[i].name, (long long)members[i].value,
                                (long long)members[i].least);
    return CSRCONV_OK;
}

static csrconv_status check_groups(const csrconv_geometry *g)
{
    if (g->channels % g->groups)
        return csrconv_fail(CSRCONV_BAD_GEOMETRY, "groups %lld does not divide channels %lld",
                            (long long)g->groups, (long long)g->channels);
    if (g->filters % g->groups)
        return csrconv_fail(CSRCONV_BAD_GEOMETRY, "groups %lld does not divide filters %lld",
                            (long long)g->groups, (long long)g->filters);
    return CSRCONV_OK;
}

static csrconv_status overflow(const char *what)
{
    return csrconv_fail(CSRCONV_BAD_GEOMETRY, "%s overflows 64 bits", what);
}

/* One axis: the padded extent and the number of output positions. */
struct axis {
    const char *name;
    int64_t size, kernel, stride, dilation, before, after;
};

static csrconv_status axis_output(const struct axis *a, int64_t *padded, int64_t *out)
{
    int64_t reach;
    if (csrconv_add_overflows(a->size, a->before, padded) ||
        csrconv_add_overflows(*padded, a->after, padded))
        return csrconv_fail(CSRCONV_BAD_GEOMETRY, "%s with its padding overflows 64 bits", a->name);
    if (csrconv_multiply_overflows(a->kernel - 1, a->dilation, &reach) || reach >= *padded)
        return csrconv_fail(CSRCONV_BAD_GEOMETRY,
                            "the output is empty: a kernel of %lld with dilation %lld does not fit "
                            "into the padded %s of %lld",
                            (long long)a->kernel, (long long)a->dilation, a->name,
                            (long long)*padded);
    *out = (*padded - reach - 1) / a->stride + 1;
    return CSRCONV_OK;
}

static void limit(int64_t *value, int64_t most)
{
    if (*value > most)
        *value = most;
}

/*
 * A stride or dilation beyond the padded extent is one that no second position or second weight
 * steps by: any other such value gives the same, and sums with this one do not overflow.
 */
static void limit_steps(struct csrconv_shape *s)
{
    limit(&s->g.stride_h, s->padded_h);
    limit(&s->g.stride_w, s->padded_w);
    limit(&s->g.dilation_h, s->padded_h);
    limit(&s->g.dilation_w, s->padded_w);
}

static csrconv_status fill_outputs(struct csrconv_shape *s)
{
    const csrconv_geometry *g = &s->g;
    const struct axis rows = { "height",      g->height,  g->kernel_h,  g->stride_h,
                               g->dilation_h, g->pad_top, g->pad_bottom };
    const struct axis columns = { "width",       g->width,    g->kernel_w, g->stride_w,
                                  g->dilation_w, g->pad_left, g->pad_right };
    csrconv_status status = axis_output(&rows, &s->padded_h, &s->out_h);
    if (!status)
        status = axis_output(&columns, &s->padded_w, &s->out_w);
    if (!status)
        limit_steps(s);
    return status;
}

static csrconv_status fill_products(struct csrconv_shape *s)
{
    const csrconv_geometry *g = &s->g;
    int64_t kernel;
    s->group_channels = g->channels / g->groups;
    s->group_filters = g->filters / g->groups;
    if (csrconv_multiply_overflows(g->kernel_h, g->kernel_w, &kernel) ||
        csrconv_multiply_overflows(s->group_channels, kernel, &s->columns))
        return overflow("channels / groups * kernel_h * kernel_w");
    if (csrconv_multiply_overflows(g->height, g->width, &s->plane) ||
        csrconv_multiply_overflows(g->channels, s->plane, &s->in_image))
        return overflow("channels * height * width");
    if (csrconv_multiply_overflows(s->padded_h, s->padded_w, &s->padded_plane) ||
        csrconv_multiply_overflows(g->channels, s->padded_plane, &s->padded_image))
        return overflow("channels * padded height * padded width");
    if (csrconv_multiply_overflows(s->out_h, s->out_w, &s->out_plane) ||
        csrconv_multiply_overflows(g->filters, s->out_plane, &s->out_image))
        return overflow("filters * out_height * out_width");
    return CSRCONV_OK;
}

/* The distance between images, and that a whole batch of them can be addressed in bytes. */
static csrconv_status fill_batch_stride(const char *what, int64_t batch, int64_t image,
                                        int64_t *stride)
{
    int64_t floats, bytes;
    if (*stride == 0)
        *stride = image;
    if (*stride < image)
        return csrconv_fail(CSRCONV_BAD_GEOMETRY, "%s is %lld, an image has %lld floats", what,
                            (long long)*stride, (long long)image);
    if (csrconv_multiply_overflows(batch, *stride, &floats) ||
        csrconv_multiply_overflows(floats, (int64_t)sizeof(float), &bytes))
        return csrconv_fail(CSRCONV_BAD_GEOMETRY, "batch %lld * %s %lld overflows 64 bits",
                            (long long)batch, what, (long long)*stride);
    return CSRCONV_OK;
}

csrconv_status csrconv_shape_init(struct csrconv_shape *shape, const csrconv_geometry *geometry)
{
    csrconv_status status;
    int64_t padded_floats, padded_bytes;
    if (!geometry)
        return csrconv_fail(CSRCONV_BAD_ARGUMENT, "geometry is NULL");
    status = csrconv_check_struct("csrconv_geometry", geometry->struct_size, sizeof *geometry);
    if (status)
        return status;
    shape->g = *geometry;
    if ((status = check_members(&shape->g)) || (status = check_groups(&shape->g)) ||
        (status = fill_outputs(shape)) || (status = fill_products(shape)) ||
        (status = fill_batch_stride("in_batch_stride", shape->g.batch, shape->in_image,
                                    &shape->g.in_batch_stride)) ||
        (status = fill_batch_stride("out_batch_stride", shape->g.batch, shape->out_image,
                                    &shape->g.out_batch_stride)))
        return status;
    if (csrconv_multiply_overflows(shape->g.batch, shape->padded_image, &padded_floats) ||
        csrconv_multiply_overflows(padded_floats, (int64_t)sizeof(float), &padded_bytes))
        return overflow("batch * channels * padded height * padded width");
    return CSRCONV_OK;
}

csrconv_status csrconv_output_size(const csrconv_geometry *geometry, int64_t *out_height,
                                   int64_t *out_width)
{
    struct csrconv_shape shape;
    const csrconv_status status = csrconv_shape_init(&shape, geometry);
    if (status)
        return status;
    if (out_height)
        *out_height = shape.out_h;
    if (out_width)
        *out_width = shape.out_w;
    return CSRCONV_OK;
}
