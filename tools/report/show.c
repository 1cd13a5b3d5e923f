#include "show.h"

#include "text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct shown shown_number(double value, const char *unit)
{
    struct shown shown = { "-" };
    const double size = fabs(value);
    const int digits = size >= 999.5 ? 0 : size >= 99.95 ? 1 : size >= 9.995 ? 2 : 3;
    if (isfinite(value) && size < 1e15)
        snprintf(shown.text, sizeof shown.text, "%.*f%s", digits, value, unit);
    return shown;
}

struct shown show_number(double value)
{
    return shown_number(value, "");
}

struct shown show_times(double factor)
{
    struct shown shown = shown_number(factor, "x");
    if (isfinite(factor) && fabs(factor) < 99.5)
        snprintf(shown.text, sizeof shown.text, "%.2fx", factor);
    return shown;
}

struct shown show_percent(double fraction)
{
    struct shown shown;
    snprintf(shown.text, sizeof shown.text, "%.4g %%", 100.0 * fraction);
    return shown;
}

/* "2.1x over the best dense (openblas)" at the sparsity of the case. */
static char *show_gain(const struct report_case *subject)
{
    const struct result *const dense = case_best_dense(subject);
    return text_format(
        "at %s: %s over the best dense (%s)", show_percent(subject->key->sparsity).text,
        show_times(speed_up(case_best_sparse(subject), dense)).text, dense->measurement.algorithm);
}

static char *show_never(const struct report_series *series, const struct report_case *highest)
{
    const struct result *const dense = case_best_dense(highest);
    return text_format("does not pay %s %s: %s of %s", series->count > 1 ? "up to" : "at",
                       show_percent(highest->key->sparsity).text,
                       show_times(speed_up(case_best_sparse(highest), dense)).text,
                       dense->measurement.algorithm);
}

/* Whole percents: the crossing lies between two measurements, so more digits would be made up. */
static char *show_pays(const struct report_series *series, const struct payoff *payoff)
{
    char from[96] = "";
    if (payoff->kind == PAYOFF_FROM)
        snprintf(from, sizeof from, "pays from %.0f %%; ", ceil(100.0 * payoff->sparsity - 1e-9));
    else if (series->count > 1)
        snprintf(from, sizeof from, "pays from %s or less; ", show_percent(payoff->sparsity).text);
    char *const lowest = show_gain(payoff->lowest);
    char *const highest = show_gain(payoff->highest);
    char *text = NULL;
    if (lowest && highest && payoff->lowest == payoff->highest)
        text = text_format("%s%s", from, lowest);
    else if (lowest && highest)
        text = text_format("%s%s; %s", from, lowest, highest);
    free(lowest);
    free(highest);
    return text;
}

/* Why a series cannot be judged. */
static const char *what_is_missing(const struct report_series *series)
{
    int has_sparse = 0, has_dense = 0;
    for (size_t i = 0; i < series->count; i++) {
        has_sparse |= case_best_sparse(series->cases[i]) != NULL;
        has_dense |= case_best_dense(series->cases[i]) != NULL;
    }
    if (has_sparse && !has_dense)
        return "no dense algorithm in fp32 was measured to compare with";
    return has_sparse ? "sparse and dense were never measured at the same sparsity"
                      : "no sparse algorithm was measured";
}

/* What was measured. */
static char *show_measured(const struct report_series *series)
{
    const struct payoff payoff = series_payoff(series);
    switch (payoff.kind) {
    case PAYOFF_UNKNOWN:
        break;
    case PAYOFF_NEVER:
        return show_never(series, payoff.highest);
    case PAYOFF_FROM:
    case PAYOFF_ALWAYS:
        return show_pays(series, &payoff);
    }
    return text_format("%s", what_is_missing(series));
}

/* A model is no better than that. */
double show_model_percent(double pays_from)
{
    return fmin(5.0 * ceil(20.0 * pays_from - 1e-9), 99.0);
}

static struct shown show_model(const struct report_series *series)
{
    const struct result *const own = series->count == 1 ? case_best_sparse(series->cases[0]) : NULL;
    struct shown shown = { "" };
    if (!own || own->pays_from <= 0.0)
        return shown;
    if (own->pays_from <= 0.5)
        snprintf(shown.text, sizeof shown.text, "; pays by the cost model from 50 %% or less");
    else
        snprintf(shown.text, sizeof shown.text, "; pays by the cost model from about %.0f %%",
                 show_model_percent(own->pays_from));
    return shown;
}

char *show_payoff(const struct report_series *series)
{
    char *const measured = show_measured(series);
    char *const text = measured ? text_format("%s%s", measured, show_model(series).text) : NULL;
    free(measured);
    return text;
}

char *show_setting(const struct measurement *key)
{
    const int is_cpu = strcmp(key->device, "cpu") == 0;
    char threads[48] = "";
    if (is_cpu)
        snprintf(threads, sizeof threads, "%" PRId64 " thread%s, ", key->threads,
                 key->threads == 1 ? "" : "s");
    return text_format("batch %" PRId64 ", %s, %s%s", key->batch, key->device, threads, key->cache);
}
