/*
 * A report in the order that people read it. A case is what the algorithms compete on: one layer at
 * one sparsity, batch, number of threads and cache state. A series is the cases of a layer that
 * differ in nothing but their sparsity.
 */
#ifndef CSRCONV_TOOLS_REPORT_ANALYSIS_H
#define CSRCONV_TOOLS_REPORT_ANALYSIS_H

#include "report.h"

struct report_case {
    const struct measurement *key; /* what the results have in common, and more */
    const struct result **results; /* in the report's order */
    size_t count;
    size_t layer, series; /* indices from 0, in the order of their first case */
    size_t ordinal;       /* of the case within its layer: a run does the same with each layer */
};

struct report_series {
    const struct report_case **cases; /* ascending in sparsity */
    size_t count;
    int is_only_one; /* of its layer */
};

struct analysis {
    struct report_case *cases; /* in the order of their first result */
    size_t case_count;
    struct report_series *series;
    size_t series_count;
    size_t layer_count;
    size_t ordinal_count;
    const struct result **result_slots;
    const struct report_case **case_slots;
};

/* The report must outlive the analysis. Returns an exit_code; analysis_free in any case. */
int analyse(const struct report *report, struct analysis *analysis);
void analysis_free(struct analysis *analysis);

/*
 * The sparsity of all cases of an ordinal: the one that was asked for, which each layer reaches to
 * a whole weight, or goes beyond if it had more zeros; else the one that all have. < 0: each its
 * own.
 */
double analysis_sparsity(const struct analysis *analysis, size_t ordinal);

/* ------------------------------------------------------------------------------------ of a case */

/* Measured ones only; NULL if there is none. */
const struct result *case_result(const struct report_case *subject, const char *algorithm);
const struct result *case_chosen(const struct report_case *subject);

/* The fastest of csrconv's own that leave the zeros out. */
const struct result *case_best_sparse(const struct report_case *subject);

/*
 * The fastest dense one, csrconv's own or a peer, in fp32: less precise arithmetic is no fair
 * baseline of fp32 kernels.
 */
const struct result *case_best_dense(const struct report_case *subject);

/* The fastest peer, in fp32 only or in any arithmetic. */
const struct result *case_best_fp32_peer(const struct report_case *subject);
const struct result *case_best_peer(const struct report_case *subject);

const struct result *case_fastest(const struct report_case *subject);

/* How many times as fast `of` is as `over`; 0 if either is NULL. */
double speed_up(const struct result *of, const struct result *over);

/* Name of the layer, or the problem if it has none. */
const char *layer_name(const struct measurement *key);

/* ---------------------------------------------------------------------------------- of a series */

enum payoff_kind {
    PAYOFF_UNKNOWN, /* sparse and dense were never measured side by side */
    PAYOFF_NEVER,   /* dense is faster at the highest sparsity */
    PAYOFF_FROM,    /* sparse is faster from `sparsity` on */
    PAYOFF_ALWAYS   /* sparse is faster from the lowest measured sparsity on */
};

/* lowest is the lowest measured case from which on sparse is faster, highest the highest of all. */
struct payoff {
    enum payoff_kind kind;
    double sparsity;
    const struct report_case *lowest, *highest;
};

struct payoff series_payoff(const struct report_series *series);

#endif
