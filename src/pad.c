#include "pad.h"

#include <string.h>

struct job {
    const struct csrconv_shape *shape;
    const float *in;
    float *padded;
};

static void clear(float *floats, int64_t count)
{
    memset(floats, 0, (size_t)count * sizeof *floats);
}

static void pad_plane(const struct csrconv_shape *shape, const float *plane, float *padded)
{
    const csrconv_geometry *g = &shape->g;
    clear(padded, g->pad_top * shape->padded_w);
    padded += g->pad_top * shape->padded_w;
    for (int64_t y = 0; y < g->height; y++) {
        clear(padded, g->pad_left);
        memcpy(padded + g->pad_left, plane, (size_t)g->width * sizeof *plane);
        clear(padded + g->pad_left + g->width, g->pad_right);
        plane += g->width;
        padded += shape->padded_w;
    }
    clear(padded, g->pad_bottom * shape->padded_w);
}

/* Items are planes, counted through the batch. */
static void pad_planes(void *argument, int64_t begin, int64_t end)
{
    const struct job *job = argument;
    const struct csrconv_shape *shape = job->shape;
    for (int64_t i = begin; i < end; i++) {
        const int64_t image = i / shape->g.channels, c = i % shape->g.channels;
        pad_plane(shape, job->in + image * shape->g.in_batch_stride + c * shape->plane,
                  job->padded + i * shape->padded_plane);
    }
}

void csrconv_pad_images(const struct csrconv_shape *shape, const struct csrconv_team *team,
                        int64_t n, const float *in, float *padded)
{
    struct job job = { shape, in, padded };
    csrconv_team_run(team, n * shape->g.channels, pad_planes, &job);
}
