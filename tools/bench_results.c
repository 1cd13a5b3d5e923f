#include "bench_parts.h"

#include "commit.h"
#include "payoff_model.h"
#include "plan.h"
#include "runner/fma_peak.h"

#include <stdio.h>
#include <string.h>

/* What a plan says that "all" comes to; one that was refused would have had as many as another. */
static int threads_of(const struct bench *b, const struct trial *trial)
{
    for (int i = 0; i < b->count && !trial->info.threads; i++)
        if (b->trials[i].plan)
            trial = &b->trials[i];
    return trial->info.threads ? trial->info.threads : b->threads;
}

struct measurement bench_measurement(const struct bench *b, const struct trial *trial, bool is_cold)
{
    const struct workload *w = &b->workload;
    return (struct measurement){
        .name = b->point->problem->name,
        .problem = b->descriptor,
        .batch = w->geometry.batch,
        .sparsity = w->sparsity,
        .asked = b->point->asked,
        .nnz = w->nonzeros,
        .pattern = w->pattern,
        .algorithm = trial->algorithm.name,
        .chosen = strcmp(b->chosen, trial->algorithm.name) == 0,
        .device = b->request->device_name,
        .math = trial->algorithm.math,
        .layout = trial->algorithm.layout,
        .cache = is_cold ? "cold" : "hot",
        .threads = threads_of(b, trial),
        .verified = b->reference.is_full ? "full" : "sampled",
        .machine = b->device.name,
        .sm_clock_mhz = b->device.clock_mhz,
        .driver = b->device.driver,
        .version = csrconv_version_string(),
        .commit = CSRCONV_COMMIT,
    };
}

int bench_report_untimed(const struct bench *b, const struct trial *trial, bool is_cold,
                         struct report *report)
{
    const struct result result = {
        .status = trial->status == TRIAL_FAILED ? RESULT_FAILED : RESULT_SKIPPED,
        .measurement = bench_measurement(b, trial, is_cold),
        .reason = trial->reason,
        .is_peer = trial->algorithm.is_peer,
        .is_dense = trial->algorithm.is_dense,
    };
    return report_add(report, &result);
}

/* Of a GPU's resources. The plan no longer has the weights. */
static struct floors floors_of(const struct bench *b, const struct trial *trial)
{
    struct csrconv_problem problem = trial->plan->problem;
    problem.weights = b->workload.weights;
    return b->request->is_explained && b->stage.place->floors
               ? b->stage.place->floors(&problem, &trial->algorithm)
               : (struct floors){ 0 };
}

/* Dense peers are held against the widest vectors of the machine, which they use. */
static double peak_of(const struct bench *b, const struct trial *trial)
{
    const int own = trial->info.algorithm->lanes;
    if (!b->request->is_explained || b->request->device != CSRCONV_DEVICE_CPU)
        return 0.0;
    for (int lanes = 16; lanes >= 8; lanes /= 2) {
        const double peak = own == lanes || trial->algorithm.is_peer
                                ? fma_peak_gflops(lanes, trial->info.threads)
                                : 0.0;
        if (peak > 0.0)
            return peak;
    }
    return 0.0;
}

/* The fastest of csrconv's own that leave the zeros out, or of the dense ones in fp32; or NULL. */
static const struct timing *fastest(const struct bench *b, bool is_dense)
{
    const struct timing *best = NULL;
    for (int i = 0; i < b->timed; i++) {
        const struct timing *t = &b->timings[i];
        const csrconv_algorithm_info *a = &t->trials[0]->algorithm;
        const bool is_meant =
            is_dense ? a->is_dense && strcmp(a->math, "fp32") == 0 : !a->is_dense && !a->is_peer;
        if (is_meant && !t->failure[0] && (!best || t->us.median < best->us.median))
            best = t;
    }
    return best;
}

/* 0 but for the best sparse one. */
static double pays_from(const struct bench *b, const struct timing *t)
{
    const struct timing *dense = fastest(b, true);
    if (!b->request->is_one_sparsity || !dense || t != fastest(b, false))
        return 0.0;
    return payoff_by_model(t->trials[0], t->us.median, dense->us.median, b->request->seed);
}

struct remark bench_remark(const struct timing *t, const char *detail, const char *variant)
{
    struct remark r;
    if (t->row.uncaptured[0]) {
        snprintf(r.detail, sizeof r.detail, "%s%snot in a graph, but launched one by one: %s",
                 detail, *detail ? "; " : "", t->row.uncaptured);
        snprintf(r.variant, sizeof r.variant, "%s%sno graph", variant, *variant ? ", " : "");
        fprintf(stderr, "warning: %s cannot be captured in a graph: %s\n", t->name,
                t->row.uncaptured);
    } else {
        snprintf(r.detail, sizeof r.detail, "%s", detail);
        snprintf(r.variant, sizeof r.variant, "%s", variant);
    }
    return r;
}

void bench_fill_times(struct measurement *m, const struct timing *t)
{
    m->samples = t->samples;
    m->median_us = t->us.median;
    m->min_us = t->us.min;
    m->q1_us = t->us.q1;
    m->q3_us = t->us.q3;
    m->conversion = t->prepare_us > 0.0;
    m->prepare_us = t->prepare_us;
}

int bench_report_timing(const struct bench *b, const struct timing *t, bool is_cold,
                        struct report *report)
{
    const struct trial *trial = t->trials[0];
    const struct remark remark = bench_remark(t, trial->info.detail, trial->info.variant);
    struct result result = { .status = RESULT_MEASURED,
                             .measurement = bench_measurement(b, trial, is_cold),
                             .is_peer = trial->algorithm.is_peer,
                             .is_dense = trial->algorithm.is_dense,
                             .estimate_us = trial->info.estimate_us,
                             .detail = remark.detail,
                             .pays_from = pays_from(b, t),
                             .peak_gflops = peak_of(b, trial),
                             .floors = floors_of(b, trial) };
    struct measurement *m = &result.measurement;
    bench_fill_times(m, t);
    m->plan_us = trial->plan_us;
    m->workspace_bytes = (int64_t)trial->info.workspace_bytes;
    m->plan_bytes = (int64_t)trial->info.plan_bytes;
    m->gflops_nnz = workload_flop(&b->workload) / t->us.median * 1e-3;
    m->gflops_dense = workload_dense_flop(&b->workload) / t->us.median * 1e-3;
    m->max_error = trial->max_error;
    m->peer_version = trial->algorithm.version;
    m->peer_algorithm = remark.variant;
    return report_add(report, &result);
}
