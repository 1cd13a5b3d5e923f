#include "analysis.h"

#include "../complain.h"

#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------ what is
 * alike */

/* A key such as mb and its number, where the descriptor goes on with it. */
static const char *skip(const char *problem, const char *key)
{
    const size_t length = strlen(key);
    if (strncmp(problem, key, length) != 0)
        return problem;
    return problem + length + strspn(problem + length, "0123456789");
}

/*
 * Descriptors but for the batch, which is a column of its own and may have been overridden; only
 * the groups may stand before it.
 */
static int same_shape(const char *a, const char *b)
{
    const char *const batch_a = skip(a, "g"), *const batch_b = skip(b, "g");
    return batch_a - a == batch_b - b && memcmp(a, b, (size_t)(batch_a - a)) == 0 &&
           strcmp(skip(batch_a, "mb"), skip(batch_b, "mb")) == 0;
}

static int same_layer(const struct measurement *a, const struct measurement *b)
{
    return strcmp(a->name, b->name) == 0 && same_shape(a->problem, b->problem);
}

static int same_series(const struct measurement *a, const struct measurement *b)
{
    return same_layer(a, b) && a->batch == b->batch && a->threads == b->threads &&
           strcmp(a->device, b->device) == 0 && strcmp(a->cache, b->cache) == 0;
}

static int same_case(const struct measurement *a, const struct measurement *b)
{
    /* Both were written by the same code from the same argument: equal means bit for bit. */
    return memcmp(&a->sparsity, &b->sparsity, sizeof a->sparsity) == 0 &&
           memcmp(&a->asked, &b->asked, sizeof a->asked) == 0 &&
           strcmp(a->pattern, b->pattern) == 0 && same_series(a, b);
}

/* ----------------------------------------------------------------------------------- into cases */

/* Finds the case from the latest backwards, since results come case by case. */
static struct report_case *case_of(struct analysis *analysis, const struct measurement *key)
{
    for (size_t i = analysis->case_count; i > 0; i--)
        if (same_case(analysis->cases[i - 1].key, key))
            return &analysis->cases[i - 1];
    return NULL;
}

static void place_in_layer(struct analysis *analysis, struct report_case *fresh)
{
    fresh->layer = analysis->layer_count;
    fresh->series = analysis->series_count;
    for (const struct report_case *other = analysis->cases; other < fresh; other++) {
        if (!same_layer(other->key, fresh->key))
            continue;
        fresh->layer = other->layer;
        fresh->ordinal++;
        if (same_series(other->key, fresh->key))
            fresh->series = other->series;
    }
    analysis->layer_count += fresh->layer == analysis->layer_count;
    analysis->series_count += fresh->series == analysis->series_count;
    if (fresh->ordinal == analysis->ordinal_count)
        analysis->ordinal_count++;
}

static void make_cases(const struct report *report, struct analysis *analysis)
{
    for (size_t i = 0; i < report->count; i++) {
        const struct measurement *const key = &report->results[i].measurement;
        struct report_case *found = case_of(analysis, key);
        if (!found) {
            found = &analysis->cases[analysis->case_count];
            found->key = key;
            place_in_layer(analysis, found);
            analysis->case_count++;
        }
        found->count++;
    }
}

static void fill_cases(const struct report *report, struct analysis *analysis)
{
    const struct result **slot = analysis->result_slots;
    for (size_t i = 0; i < analysis->case_count; i++) {
        analysis->cases[i].results = slot;
        slot += analysis->cases[i].count;
        analysis->cases[i].count = 0;
    }
    for (size_t i = 0; i < report->count; i++) {
        struct report_case *const found = case_of(analysis, &report->results[i].measurement);
        found->results[found->count++] = &report->results[i];
    }
}

/* ---------------------------------------------------------------------------------- into series */

static int by_series_and_sparsity(const void *left, const void *right)
{
    const struct report_case *const a = *(const struct report_case *const *)left;
    const struct report_case *const b = *(const struct report_case *const *)right;
    if (a->series != b->series)
        return a->series < b->series ? -1 : 1;
    if (a->key->sparsity < b->key->sparsity)
        return -1;
    return a->key->sparsity > b->key->sparsity || a->ordinal > b->ordinal ? 1 : -1;
}

static void mark_only_ones(struct analysis *analysis)
{
    for (size_t i = 0; i < analysis->series_count; i++) {
        analysis->series[i].is_only_one = 1;
        for (size_t j = 0; j < analysis->series_count; j++)
            if (i != j &&
                analysis->series[i].cases[0]->layer == analysis->series[j].cases[0]->layer)
                analysis->series[i].is_only_one = 0;
    }
}

static void make_series(struct analysis *analysis)
{
    for (size_t i = 0; i < analysis->case_count; i++)
        analysis->case_slots[i] = &analysis->cases[i];
    qsort(analysis->case_slots, analysis->case_count, sizeof *analysis->case_slots,
          by_series_and_sparsity);
    for (size_t i = 0; i < analysis->case_count; i++) {
        struct report_series *const series = &analysis->series[analysis->case_slots[i]->series];
        if (series->count == 0)
            series->cases = &analysis->case_slots[i];
        series->count++;
    }
    mark_only_ones(analysis);
}

int analyse(const struct report *report, struct analysis *analysis)
{
    const size_t room = report->count ? report->count : 1;
    *analysis = (struct analysis){
        .cases = calloc(room, sizeof *analysis->cases),
        .series = calloc(room, sizeof *analysis->series),
        .result_slots = calloc(room, sizeof *analysis->result_slots),
        .case_slots = calloc(room, sizeof *analysis->case_slots),
    };
    if (!analysis->cases || !analysis->series || !analysis->result_slots || !analysis->case_slots)
        return complain(EXIT_WRONG, "report", "no memory to sort %zu results", report->count);
    make_cases(report, analysis);
    fill_cases(report, analysis);
    make_series(analysis);
    return EXIT_DONE;
}

void analysis_free(struct analysis *analysis)
{
    free(analysis->cases);
    free(analysis->series);
    free(analysis->result_slots);
    free(analysis->case_slots);
    *analysis = (struct analysis){ 0 };
}

double analysis_sparsity(const struct analysis *analysis, size_t ordinal)
{
    double common = -1.0;
    for (size_t i = 0; i < analysis->case_count; i++) {
        const struct measurement *const key = analysis->cases[i].key;
        const double sparsity = key->asked > 0.0 ? key->asked : key->sparsity;
        if (analysis->cases[i].ordinal != ordinal)
            continue;
        if (common >= 0.0 && (sparsity < common || sparsity > common))
            return -1.0;
        common = sparsity;
    }
    return common;
}

/* ------------------------------------------------------------------------------------ of a case */

typedef int accepts(const struct result *result);

static const struct result *fastest(const struct report_case *subject, accepts *accept)
{
    const struct result *best = NULL;
    for (size_t i = 0; i < subject->count; i++) {
        const struct result *const result = subject->results[i];
        if (result->status == RESULT_MEASURED && accept(result) &&
            (!best || result->measurement.median_us < best->measurement.median_us))
            best = result;
    }
    return best;
}

static int is_own_sparse(const struct result *result)
{
    return !result->is_peer && !result->is_dense;
}

static int is_fp32_dense(const struct result *result)
{
    return result->is_dense && strcmp(result->measurement.math, "fp32") == 0;
}

static int is_peer(const struct result *result)
{
    return result->is_peer;
}

static int is_fp32_peer(const struct result *result)
{
    return result->is_peer && strcmp(result->measurement.math, "fp32") == 0;
}

static int is_chosen(const struct result *result)
{
    return result->measurement.chosen;
}

static int is_any(const struct result *result)
{
    (void)result;
    return 1;
}

const struct result *case_best_sparse(const struct report_case *subject)
{
    return fastest(subject, is_own_sparse);
}

const struct result *case_best_dense(const struct report_case *subject)
{
    return fastest(subject, is_fp32_dense);
}

const struct result *case_best_fp32_peer(const struct report_case *subject)
{
    return fastest(subject, is_fp32_peer);
}

const struct result *case_best_peer(const struct report_case *subject)
{
    return fastest(subject, is_peer);
}

const struct result *case_chosen(const struct report_case *subject)
{
    return fastest(subject, is_chosen);
}

const struct result *case_fastest(const struct report_case *subject)
{
    return fastest(subject, is_any);
}

const struct result *case_result(const struct report_case *subject, const char *algorithm)
{
    for (size_t i = 0; i < subject->count; i++)
        if (subject->results[i]->status == RESULT_MEASURED &&
            strcmp(subject->results[i]->measurement.algorithm, algorithm) == 0)
            return subject->results[i];
    return NULL;
}

double speed_up(const struct result *of, const struct result *over)
{
    return of && over ? over->measurement.median_us / of->measurement.median_us : 0.0;
}

const char *layer_name(const struct measurement *key)
{
    return *key->name ? key->name : key->problem;
}

/* ---------------------------------------------------------------------------------- of a series */

/* How much longer dense takes; sparse is faster where this is positive. */
static double gain_us(const struct report_case *subject)
{
    return case_best_dense(subject)->measurement.median_us -
           case_best_sparse(subject)->measurement.median_us;
}

/* The next lower case where both kinds were measured, or NULL. */
static const struct report_case *compared_below(const struct report_series *series, size_t *index)
{
    while (*index > 0) {
        const struct report_case *const subject = series->cases[--*index];
        if (case_best_dense(subject) && case_best_sparse(subject))
            return subject;
    }
    return NULL;
}

/*
 * Where the gain crosses zero between a case that loses and one that pays: along a straight line,
 * as the time of a sparse algorithm is about linear in its nonzeros and that of a dense one
 * constant.
 */
static double crossing(const struct report_case *loses, const struct report_case *pays)
{
    const double loss = -gain_us(loses);
    const double part = loss / (loss + gain_us(pays));
    return loses->key->sparsity + part * (pays->key->sparsity - loses->key->sparsity);
}

struct payoff series_payoff(const struct report_series *series)
{
    struct payoff payoff = { PAYOFF_UNKNOWN, 0.0, NULL, NULL };
    size_t index = series->count;
    const struct report_case *subject = compared_below(series, &index);
    if (!subject)
        return payoff;
    payoff.kind = PAYOFF_NEVER;
    payoff.highest = subject;
    for (; subject && gain_us(subject) > 0.0; subject = compared_below(series, &index)) {
        payoff.kind = PAYOFF_ALWAYS;
        payoff.lowest = subject;
        payoff.sparsity = subject->key->sparsity;
    }
    if (subject && payoff.kind == PAYOFF_ALWAYS) {
        payoff.kind = PAYOFF_FROM;
        payoff.sparsity = crossing(subject, payoff.lowest);
    }
    return payoff;
}
