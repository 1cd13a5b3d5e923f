/* Nothing is touched around the input, the output and the workspace: no page is there. */
#include "helpers.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Some floats between two pages that fault, next to the one before or to the one behind. */
struct fenced {
    char *pages;
    size_t page, bytes; /* of a page; of those between the fences */
    float *floats;
};

static void set_fences(const struct fenced *f, int protection)
{
    assert_int_equal(mprotect(f->pages, f->page, protection), 0);
    assert_int_equal(mprotect(f->pages + f->page + f->bytes, f->page, protection), 0);
}

static struct fenced fence(const float *floats, size_t bytes, bool is_at_end)
{
    struct fenced f = { .page = (size_t)sysconf(_SC_PAGESIZE) };
    void *pages;
    f.bytes = (bytes + f.page - 1) / f.page * f.page;
    assert_int_equal(posix_memalign(&pages, f.page, f.bytes + 2 * f.page), 0);
    f.pages = pages;
    f.floats = (float *)(void *)(f.pages + f.page + (is_at_end ? f.bytes - bytes : 0));
    if (floats)
        memcpy(f.floats, floats, bytes);
    set_fences(&f, PROT_NONE);
    return f;
}

static void take_down(const struct fenced *f)
{
    set_fences(f, PROT_READ | PROT_WRITE);
    free(f->pages);
}

static void run_fenced(const struct layer *layer, const csrconv_algorithm *algorithm,
                       bool is_at_end, float *out)
{
    const size_t out_bytes = (size_t)layer_out_floats(layer) * sizeof *out;
    csrconv_plan_options options = layer->options;
    csrconv_plan_info info = { .struct_size = sizeof info };
    struct fenced in, result, workspace;
    csrconv_plan *plan;
    options.algorithm = info_of(algorithm).name;
    assert_ok(csrconv_plan_create(layer->weights, &layer->geometry, &options, &plan));
    assert_ok(csrconv_plan_describe(plan, &info));
    in = fence(layer->in, (size_t)layer_in_floats(layer) * sizeof *layer->in, is_at_end);
    result = fence(NULL, out_bytes, is_at_end);
    workspace = fence(NULL, (info.workspace_bytes + 63) / 64 * 64, is_at_end);
    assert_ok(csrconv_execute(plan, layer->n, in.floats, result.floats, workspace.floats,
                              info.workspace_bytes, NULL));
    memcpy(out, result.floats, out_bytes);
    take_down(&workspace);
    take_down(&result);
    take_down(&in);
    csrconv_plan_destroy(&plan);
}

static void check_layer(const csrconv_algorithm *algorithm, const csrconv_geometry *g)
{
    csrconv_weights *weights = weights_of(g);
    struct layer layer = layer_of(g, weights, NULL);
    const int64_t in_floats = layer_in_floats(&layer), out_floats = layer_out_floats(&layer);
    float *in = test_malloc((size_t)in_floats * sizeof *in);
    float *want = test_calloc((size_t)out_floats, sizeof *want);
    float *got = test_calloc((size_t)out_floats, sizeof *got);
    fill_series(in, in_floats);
    layer.in = in;
    layer.options.threads = 1;
    layer_run(&layer, algorithm, want);
    for (int is_at_end = 0; is_at_end < 2; is_at_end++) {
        run_fenced(&layer, algorithm, is_at_end, got);
        assert_memory_equal(got, want, (size_t)out_floats * sizeof *got);
    }
    test_free(got);
    test_free(want);
    test_free(in);
    csrconv_weights_destroy(&weights);
}

/* Around the widths of vectors and of tiles, which such layers read in place. */
static void check_pixel_counts(const csrconv_algorithm *algorithm)
{
    if (!runs_on_cpu(algorithm))
        return;
    for (int64_t pixels = 1; pixels <= 130; pixels++) {
        csrconv_geometry g = geometry_of(5, 1, pixels, 3, 1, 1);
        g.batch = 2;
        check_layer(algorithm, &g);
    }
}

static void pixels_in_place(void **state)
{
    (void)state;
    each_own_algorithm(check_pixel_counts);
}

/* Maps of SIZE x SIZE: a whole vector of images and one more, with borders and without. */
static void check_maps(const csrconv_algorithm *algorithm)
{
    if (!runs_on_cpu(algorithm))
        return;
    for (int64_t size = 3; size <= 17; size++) {
        csrconv_geometry g = geometry_of(3, size, size + 1, 4, 3, 3);
        g.batch = 17;
        check_layer(algorithm, &g);
        g.pad_top = g.pad_left = g.pad_bottom = g.pad_right = 1;
        check_layer(algorithm, &g);
        g.stride_h = g.stride_w = 2;
        check_layer(algorithm, &g);
    }
}

static void maps_with_and_without_borders(void **state)
{
    (void)state;
    each_own_algorithm(check_maps);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pixels_in_place),
        cmocka_unit_test(maps_with_and_without_borders),
    };
    return cmocka_run_group_tests_name("bounds", tests, NULL, NULL);
}
