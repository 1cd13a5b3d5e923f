#include "reference.h"

#include "complain.h"
#include "oracle.h"
#include "random.h"

#include <stdlib.h>
#include <string.h>

static const double full_check_flop = 4e9;
static const int64_t full_check_outputs = 1 << 25;
enum { SAMPLES = 65536 };

static struct oracle oracle_of(const struct workload *w)
{
    return (struct oracle){ .geometry = w->geometry,
                            .out_h = w->out_h,
                            .out_w = w->out_w,
                            .weights = w->dense,
                            .in = guarded_image(&w->in, 0),
                            .bias = w->bias,
                            .residual = w->residual.block ? guarded_image(&w->residual, 0) : NULL,
                            .activation = w->activation,
                            .lo = w->lo,
                            .hi = w->hi };
}

int64_t reference_image(const struct reference *reference, const struct workload *workload,
                        int64_t i)
{
    return reference->is_full || i == 0 ? i : workload->geometry.batch - 1;
}

static void compute_images(const struct workload *w, struct reference *r)
{
    const struct oracle oracle = oracle_of(w);
    const int64_t filters = w->geometry.filters, plane = w->out_h * w->out_w;
#ifdef _OPENMP
#pragma omp parallel for schedule(dynamic)
#endif
    for (int64_t i = 0; i < r->images * filters; i++) {
        const struct oracle_window all = {
            reference_image(r, w, i / filters), i % filters, 0, w->out_h, 0, w->out_w
        };
        oracle_compute(&oracle, &all, r->want + i * plane, r->magnitude + i * plane);
    }
}

/* Half of them anywhere; half at borders and beside multiples of 4, where tiles of kernels meet. */
static int64_t sample_coordinate(struct random_state *state, int64_t size)
{
    const int64_t anywhere = (int64_t)random_below(state, (uint64_t)size);
    const int64_t edge = anywhere / 4 * 4 - (int64_t)random_below(state, 2);
    switch (random_below(state, 4)) {
    case 0:
        return random_below(state, 2) ? 0 : size - 1;
    case 1:
        return edge < 0 ? 0 : edge;
    default:
        return anywhere;
    }
}

static void compute_samples(const struct workload *w, uint64_t seed, struct reference *r)
{
    const struct oracle oracle = oracle_of(w);
    struct random_state state;
    random_seed(&state, seed);
    for (int64_t i = 0; i < r->samples; i++) {
        struct reference_sample *s = &r->sample[i];
        s->n = sample_coordinate(&state, w->geometry.batch);
        s->m = sample_coordinate(&state, w->geometry.filters);
        s->y = sample_coordinate(&state, w->out_h);
        s->x = sample_coordinate(&state, w->out_w);
    }
#ifdef _OPENMP
#pragma omp parallel for schedule(dynamic, 64)
#endif
    for (int64_t i = 0; i < r->samples; i++) {
        struct reference_sample *s = &r->sample[i];
        const struct oracle_window one = { s->n, s->m, s->y, s->y + 1, s->x, s->x + 1 };
        oracle_compute(&oracle, &one, &s->want, &s->magnitude);
    }
}

int reference_make(const struct workload *workload, uint64_t seed, struct reference *r)
{
    const csrconv_geometry *g = &workload->geometry;
    const int64_t image = g->filters * workload->out_h * workload->out_w;
    memset(r, 0, sizeof *r);
    r->is_full =
        workload_dense_flop(workload) <= full_check_flop && image <= full_check_outputs / g->batch;
    r->images = r->is_full ? g->batch : g->batch < 2 ? g->batch : 2;
    r->samples = r->is_full ? 0 : SAMPLES;
    r->want = calloc((size_t)image, (size_t)r->images * sizeof *r->want);
    r->magnitude = calloc((size_t)image, (size_t)r->images * sizeof *r->magnitude);
    r->sample = calloc((size_t)r->samples + 1, sizeof *r->sample);
    if (!r->want || !r->magnitude || !r->sample)
        return complain(EXIT_WRONG, "memory", "no room for the reference of %lld outputs",
                        (long long)(image * r->images));
    compute_images(workload, r);
    compute_samples(workload, seed, r);
    return EXIT_DONE;
}

void reference_free(struct reference *reference)
{
    free(reference->want);
    free(reference->magnitude);
    free(reference->sample);
    memset(reference, 0, sizeof *reference);
}
