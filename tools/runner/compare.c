#include "reference.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Where an output stands, for the sentence about a wrong one. */
struct place_of_output {
    int64_t n, m, y, x;
};

static const double unit_fp32 = 0x1p-24, unit_reduced = 0x1p-11;

struct tolerance tolerance_of(const struct workload *workload, const csrconv_algorithm_info *info,
                              bool is_mixing)
{
    const bool is_fp32 = strcmp(info->math, "fp32") == 0;
    return (struct tolerance){ .is_exact = workload->is_exact && is_fp32 && !is_mixing,
                               .is_dense = info->is_dense,
                               .unit = is_fp32 ? unit_fp32 : unit_reduced,
                               .factor = is_mixing ? 32.0 : 1.0,
                               .is_mixing = is_mixing };
}

/* The most that the magnitude of an output of filter m can be. */
static double largest_magnitude(const struct workload *w, int64_t m)
{
    const double bias = w->bias ? fabs((double)w->bias[m]) : 0.0;
    return (double)w->row_magnitude[m] * w->largest_activation + bias + w->largest_residual;
}

/*
 * 4 (nnz_row + 2) u magnitude; see docs/numerics.md. Where neighbours mix, an output of zeros gets
 * the errors of those beside it, so that only the largest magnitude bounds it.
 */
static double bound_of(const struct workload *w, const struct tolerance *t, int64_t m,
                       double magnitude)
{
    if (t->is_mixing)
        magnitude = largest_magnitude(w, m);
    const csrconv_geometry *g = &w->geometry;
    const int64_t products =
        t->is_dense ? g->channels / g->groups * g->kernel_h * g->kernel_w : w->row_nonzeros[m];
    return t->factor * 4.0 * ((double)products + 2.0) * t->unit * magnitude;
}

static void fail(struct verdict *verdict, const struct place_of_output *at, double got, double want,
                 double bound)
{
    if (verdict->is_right)
        snprintf(verdict->text, sizeof verdict->text,
                 "out[%lld][%lld][%lld][%lld] is %.9g, should be %.9g within %.3g",
                 (long long)at->n, (long long)at->m, (long long)at->y, (long long)at->x, got, want,
                 bound);
    verdict->is_right = false;
}

static void check(struct verdict *verdict, const struct place_of_output *at, float got, double want,
                  double bound)
{
    const double error = fabs((double)got - want);
    if ((isnan(want) && isnan(got)) || (double)got == want)
        return;
    if (!(error <= bound))
        fail(verdict, at, (double)got, want, bound);
    else if (error > verdict->max_error * bound)
        verdict->max_error = error / bound;
}

static void compare_images(const struct reference *r, const struct workload *w,
                           const struct tolerance *t, const struct guarded *out,
                           struct verdict *verdict)
{
    const int64_t plane = w->out_h * w->out_w, image = w->geometry.filters * plane;
    for (int64_t i = 0; i < r->images; i++) {
        const int64_t n = reference_image(r, w, i);
        for (int64_t j = 0; j < image && n < out->n; j++) {
            const struct place_of_output at = { n, j / plane, j % plane / w->out_w, j % w->out_w };
            const double bound =
                t->is_exact ? 0.0 : bound_of(w, t, at.m, r->magnitude[i * image + j]);
            check(verdict, &at, guarded_image(out, n)[j], r->want[i * image + j], bound);
        }
    }
}

static void compare_samples(const struct reference *r, const struct workload *w,
                            const struct tolerance *t, const struct guarded *out,
                            struct verdict *verdict)
{
    for (int64_t i = 0; i < r->samples; i++) {
        const struct reference_sample *s = &r->sample[i];
        const struct place_of_output at = { s->n, s->m, s->y, s->x };
        const int64_t j = (s->m * w->out_h + s->y) * w->out_w + s->x;
        if (s->n >= out->n)
            continue;
        check(verdict, &at, guarded_image(out, s->n)[j], s->want,
              t->is_exact ? 0.0 : bound_of(w, t, s->m, s->magnitude));
    }
}

/* The floats outside the images must still be what workload_fill_canaries made them. */
static void compare_canaries(const struct guarded *out, struct verdict *verdict)
{
    for (int64_t i = 0; i < out->block_floats; i++) {
        const int64_t at = i - out->start;
        const bool is_image = at >= 0 && at < out->n * out->stride && at % out->stride < out->image;
        if (is_image || memcmp(&out->block[i], &workload_canary, sizeof(float)) == 0)
            continue;
        if (verdict->is_right)
            snprintf(verdict->text, sizeof verdict->text,
                     "wrote outside the output, %lld floats from its start", (long long)at);
        verdict->is_right = false;
    }
}

void reference_compare(const struct reference *reference, const struct workload *workload,
                       const struct tolerance *tolerance, const struct guarded *out,
                       struct verdict *verdict)
{
    *verdict = (struct verdict){ .is_right = true };
    compare_canaries(out, verdict);
    compare_images(reference, workload, tolerance, out, verdict);
    compare_samples(reference, workload, tolerance, out, verdict);
}

void reference_compare_outputs(const struct workload *w, const struct tolerance *tolerance,
                               const struct guarded *out, const struct tolerance *other_tolerance,
                               const struct guarded *other, const char *other_name,
                               struct verdict *verdict)
{
    const int64_t plane = w->out_h * w->out_w, image = w->geometry.filters * plane;
    const struct verdict before = *verdict;
    for (int64_t n = 0; n < out->n; n++) {
        const float *got = guarded_image(out, n), *want = guarded_image(other, n);
        for (int64_t j = 0; j < image; j++) {
            const struct place_of_output at = { n, j / plane, j % plane / w->out_w, j % w->out_w };
            const double magnitude = largest_magnitude(w, at.m);
            const double bound = tolerance->is_exact && other_tolerance->is_exact
                                     ? 0.0
                                     : bound_of(w, tolerance, at.m, magnitude) +
                                           bound_of(w, other_tolerance, at.m, magnitude);
            check(verdict, &at, got[j], (double)want[j], bound);
        }
    }
    verdict->max_error = before.max_error;
    if (before.is_right && !verdict->is_right) {
        char where[sizeof verdict->text];
        memcpy(where, verdict->text, sizeof where);
        snprintf(verdict->text, sizeof verdict->text, "%.180s (against %s)", where, other_name);
    }
}
