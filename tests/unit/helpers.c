#include "helpers.h"

#include "runner/place.h"

#include <stdlib.h>
#include <string.h>

void check_failure(csrconv_status got, csrconv_status want, const char *fragment, const char *call,
                   const char *file, int line)
{
    if (got != want) {
        print_error("%s\n  gave %s, should give %s\n  sentence: %s\n", call,
                    csrconv_status_string(got), csrconv_status_string(want), csrconv_last_error());
        _fail(file, line);
    }
    if (!strstr(csrconv_last_error(), fragment)) {
        print_error("%s\n  said \"%s\", which lacks \"%s\"\n", call, csrconv_last_error(),
                    fragment);
        _fail(file, line);
    }
}

void check_success(csrconv_status got, const char *call, const char *file, int line)
{
    if (got) {
        print_error("%s\n  gave %s: %s\n", call, csrconv_status_string(got), csrconv_last_error());
        _fail(file, line);
    }
}

csrconv_geometry geometry_of(int64_t channels, int64_t height, int64_t width, int64_t filters,
                             int64_t kernel_h, int64_t kernel_w)
{
    csrconv_geometry g;
    csrconv_geometry_init(&g);
    g.channels = channels;
    g.height = height;
    g.width = width;
    g.filters = filters;
    g.kernel_h = kernel_h;
    g.kernel_w = kernel_w;
    return g;
}

void fill_series(float *floats, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        floats[i] = (float)(i * 37 % 101 - 50) * 0.03125F + 0.015625F;
}

csrconv_weights *weights_of(const csrconv_geometry *g)
{
    const int64_t channels = g->channels / g->groups;
    const int64_t count = g->filters * channels * g->kernel_h * g->kernel_w;
    float *dense = test_calloc((size_t)count, sizeof *dense);
    csrconv_weights *weights;
    fill_series(dense, count);
    for (int64_t i = 0; i < count; i += 3)
        dense[i] = 0.0F;
    assert_ok(csrconv_weights_from_dense(dense, g->filters, channels, g->kernel_h, g->kernel_w,
                                         NULL, &weights));
    test_free(dense);
    return weights;
}

/* Stands before each block, at its alignment. */
struct counted_header {
    void *start;
    size_t bytes;
};

static void *counted_allocate(void *context, size_t bytes, size_t alignment)
{
    struct counted *counted = context;
    const size_t room =
        alignment < sizeof(struct counted_header) ? sizeof(struct counted_header) : alignment;
    char *start;
    if (!bytes || !alignment || alignment & (alignment - 1))
        counted->is_odd = true;
    if (++counted->allocations == counted->fail_at || bytes > PTRDIFF_MAX / 2)
        return NULL;
    start = aligned_alloc(room, (bytes + 2 * room - 1) / room * room);
    if (!start)
        return NULL;
    memset(start + room, 0xa5, bytes);
    ((struct counted_header *)(void *)(start + room))[-1] = (struct counted_header){ start, bytes };
    counted->live++;
    counted->live_bytes += bytes;
    return start + room;
}

static void counted_release(void *context, void *block)
{
    struct counted *counted = context;
    const struct counted_header *header = (struct counted_header *)block - 1;
    counted->live--;
    counted->live_bytes -= header->bytes;
    free(header->start);
}

csrconv_allocator counted_allocator(struct counted *counted)
{
    return (csrconv_allocator){ counted, counted_allocate, counted_release };
}

csrconv_algorithm_info info_of(const csrconv_algorithm *algorithm)
{
    csrconv_algorithm_info info = { .struct_size = sizeof info };
    assert_ok(csrconv_algorithm_describe(algorithm, &info));
    return info;
}

/* A layer of one weight is what anything runs that the machine can run at all. */
bool runs_here(const csrconv_algorithm *algorithm)
{
    const csrconv_algorithm *const only[] = { algorithm, NULL };
    const csrconv_geometry g = geometry_of(1, 1, 1, 1, 1, 1);
    csrconv_weights *weights = weights_of(&g);
    csrconv_plan_options options;
    csrconv_plan *plan;
    csrconv_status status;
    csrconv_plan_options_init(&options);
    options.algorithm = info_of(algorithm).name;
    options.peers = only;
    status = csrconv_plan_create(weights, &g, &options, &plan);
    if (status)
        print_message("skipped: %s: %s\n", options.algorithm, csrconv_last_error());
    if (status && status != CSRCONV_NO_DEVICE && status / 1000 != 3)
        assert_ok(status);
    csrconv_plan_destroy(&plan);
    csrconv_weights_destroy(&weights);
    return status == CSRCONV_OK;
}

bool runs_on_cpu(const csrconv_algorithm *algorithm)
{
    return info_of(algorithm).device == CSRCONV_DEVICE_CPU && runs_here(algorithm);
}

void each_own_algorithm(void (*test)(const csrconv_algorithm *algorithm))
{
    for (const csrconv_algorithm *const *a = csrconv_algorithms(); *a; a++)
        if (runs_here(*a))
            test(*a);
}

struct layer layer_of(const csrconv_geometry *geometry, const csrconv_weights *weights,
                      const float *in)
{
    struct layer layer = {
        .geometry = *geometry, .weights = weights, .n = geometry->batch, .in = in
    };
    csrconv_plan_options_init(&layer.options);
    return layer;
}

int64_t layer_in_floats(const struct layer *layer)
{
    const csrconv_geometry *g = &layer->geometry;
    return g->batch *
           (g->in_batch_stride ? g->in_batch_stride : g->channels * g->height * g->width);
}

int64_t layer_out_floats(const struct layer *layer)
{
    const csrconv_geometry *g = &layer->geometry;
    int64_t out_h, out_w;
    assert_ok(csrconv_output_size(g, &out_h, &out_w));
    return g->batch * (g->out_batch_stride ? g->out_batch_stride : g->filters * out_h * out_w);
}

/* A copy at the place; NULL of NULL. */
static void *copy_to(const struct place *place, const float *floats, int64_t count)
{
    void *copy;
    if (!floats)
        return NULL;
    copy = place->allocate((size_t)count * sizeof *floats);
    assert_non_null(copy);
    assert_int_equal(place->upload(copy, floats, (size_t)count * sizeof *floats), 0);
    return copy;
}

static csrconv_plan *plan_of(const struct layer *layer, const csrconv_algorithm *algorithm,
                             csrconv_plan_info *info)
{
    csrconv_plan_options options = layer->options;
    csrconv_plan *plan;
    options.algorithm = info_of(algorithm).name;
    assert_ok(csrconv_plan_create(layer->weights, &layer->geometry, &options, &plan));
    *info = (csrconv_plan_info){ .struct_size = sizeof *info };
    assert_ok(csrconv_plan_describe(plan, info));
    return plan;
}

void layer_run(const struct layer *layer, const csrconv_algorithm *algorithm, float *out)
{
    const int64_t out_floats = layer_out_floats(layer);
    const struct place *place = place_of(info_of(algorithm).device);
    csrconv_plan_info info;
    assert_int_equal(place->select(0), 0);
    csrconv_plan *plan = plan_of(layer, algorithm, &info);
    void *in = copy_to(place, layer->in, layer_in_floats(layer));
    void *residual = copy_to(place, layer->residual, out_floats);
    void *result = copy_to(place, out, out_floats);
    void *workspace = place->allocate(info.workspace_bytes + 1);
    assert_non_null(workspace);
    assert_ok(csrconv_execute_residual(plan, layer->n, in, residual, result, workspace,
                                       info.workspace_bytes, place->stream()));
    assert_int_equal(place->finish(), 0);
    assert_int_equal(place->download(out, result, (size_t)out_floats * sizeof *out), 0);
    place->release(workspace);
    place->release(result);
    if (residual)
        place->release(residual);
    place->release(in);
    csrconv_plan_destroy(&plan);
}
