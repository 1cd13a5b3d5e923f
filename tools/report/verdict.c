#include "verdict.h"

#include "show.h"

#include <inttypes.h>
#include <math.h>

enum { NAMES_MOST = 8 };

/* The layers of one setting where both kinds ran. */
struct verdict {
    const struct report_case *first;
    size_t layers, gaining;
    double dense_us, mixed_us; /* mixed: of each layer the faster one */
};

static int gains(const struct report_case *subject)
{
    return speed_up(case_best_sparse(subject), case_best_dense(subject)) > 1.0;
}

static int is_of(const struct report_case *subject, size_t ordinal)
{
    return subject->ordinal == ordinal && case_best_sparse(subject) && case_best_dense(subject);
}

static struct verdict judge(const struct analysis *analysis, size_t ordinal)
{
    struct verdict v = { .first = NULL };
    for (size_t i = 0; i < analysis->case_count; i++) {
        const struct report_case *const subject = &analysis->cases[i];
        if (!is_of(subject, ordinal))
            continue;
        const double dense = case_best_dense(subject)->measurement.median_us;
        const double sparse = case_best_sparse(subject)->measurement.median_us;
        v.first = v.first ? v.first : subject;
        v.layers++;
        v.gaining += (size_t)gains(subject);
        v.dense_us += dense;
        v.mixed_us += fmin(dense, sparse);
    }
    return v;
}

/* Percent of zeros from which sparse was measured to be faster, or the model says; 0: unknown. */
static double pays_from(const struct analysis *analysis, const struct report_case *subject)
{
    const struct report_series *const series = &analysis->series[subject->series];
    const struct payoff payoff = series_payoff(series);
    if (payoff.kind == PAYOFF_FROM || payoff.kind == PAYOFF_ALWAYS)
        return ceil(100.0 * payoff.sparsity - 1e-9);
    return series->count == 1 ? show_model_percent(case_best_sparse(subject)->pays_from) : 0.0;
}

/* The layers that gain, or those that do not and from which sparsity they would. */
static void write_layers(const struct analysis *analysis, size_t ordinal, int is_gaining,
                         FILE *stream)
{
    size_t shown = 0, more = 0;
    for (size_t i = 0; i < analysis->case_count; i++) {
        const struct report_case *const subject = &analysis->cases[i];
        if (!is_of(subject, ordinal) || gains(subject) != is_gaining)
            continue;
        if (shown == NAMES_MOST) {
            more++;
            continue;
        }
        const double from = is_gaining ? 0.0 : pays_from(analysis, subject);
        fprintf(stream, "%s%s", shown++ ? ", " : "", layer_name(subject->key));
        if (from > 100.0 * subject->key->sparsity) /* else the model was wrong about this one */
            fprintf(stream, " (from about %.0f %%)", from);
    }
    if (more)
        fprintf(stream, " and %zu more", more);
}

static void write_setting(const struct analysis *analysis, const struct verdict *v, size_t ordinal,
                          FILE *stream)
{
    const double sparsity = analysis_sparsity(analysis, ordinal);
    fprintf(stream, "\nverdict");
    if (analysis->ordinal_count > 1)
        fprintf(stream, " at %s, batch %" PRId64,
                sparsity < 0.0 ? "each layer's own sparsity" : show_percent(sparsity).text,
                v->first->key->batch);
    fprintf(stream, ": sparse is faster on %zu of %zu convolutions", v->gaining, v->layers);
    if (v->gaining) {
        fputs(": ", stream);
        write_layers(analysis, ordinal, 1, stream);
        fprintf(
            stream, ". With those sparse%s the convolutions take %s us in all instead of %s: %s",
            v->gaining < v->layers ? " and the others dense" : "", show_number(v->mixed_us).text,
            show_number(v->dense_us).text, show_times(v->dense_us / v->mixed_us).text);
    }
    if (v->gaining < v->layers) {
        fputs(". Better left dense: ", stream);
        write_layers(analysis, ordinal, 0, stream);
    }
    fputs(".\n", stream);
}

void verdict_write(const struct analysis *analysis, FILE *stream)
{
    for (size_t ordinal = 0; ordinal < analysis->ordinal_count; ordinal++) {
        const struct verdict v = judge(analysis, ordinal);
        if (v.layers)
            write_setting(analysis, &v, ordinal, stream);
    }
}
