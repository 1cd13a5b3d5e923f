#include "bench_network.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

struct sums {
    double estimate_us, alone_us, plan_us, max_error, flop, dense_flop;
    int64_t workspace_bytes, plan_bytes;
};

/* The median of the trial by itself; 0 if it has none. */
static double alone_us(const struct bench *b, const struct trial *trial)
{
    for (int i = 0; i < b->timed; i++)
        if (b->passed[i] == trial)
            return b->timings[i].us.median;
    return 0.0;
}

static struct sums sums_of(const struct network *n, const struct contender *c)
{
    struct sums sums = { 0 };
    for (size_t i = 0; i < n->count; i++) {
        const struct trial *const trial = c->chain[i];
        sums.estimate_us += trial->info.estimate_us;
        sums.alone_us += alone_us(&n->layers[i], trial);
        sums.plan_us += trial->plan_us;
        sums.max_error = fmax(sums.max_error, trial->max_error);
        sums.flop += workload_flop(&n->layers[i].workload);
        sums.dense_flop += workload_dense_flop(&n->layers[i].workload);
        sums.workspace_bytes += (int64_t)trial->info.workspace_bytes;
        sums.plan_bytes += (int64_t)trial->info.plan_bytes;
    }
    return sums;
}

/* What all layers say alike, or `otherwise`. */
static const char *common(const struct network *n, const struct contender *c,
                          const char *(*text_of)(const struct trial *), const char *otherwise)
{
    const char *const first = text_of(c->chain[0]);
    for (size_t i = 1; i < n->count; i++)
        if (strcmp(text_of(c->chain[i]), first) != 0)
            return otherwise;
    return first;
}

static const char *math_of(const struct trial *trial)
{
    return trial->algorithm.math;
}

static const char *layout_of(const struct trial *trial)
{
    return trial->algorithm.layout;
}

static const char *variant_of(const struct trial *trial)
{
    return trial->info.variant ? trial->info.variant : "";
}

static double weights_of(const csrconv_geometry *g)
{
    return (double)g->filters * (double)(g->channels / g->groups) * (double)g->kernel_h *
           (double)g->kernel_w;
}

/* What tells the results apart, measured or not. */
static struct measurement measurement_of(const struct network *n, const struct contender *c,
                                         bool is_cold)
{
    struct measurement m =
        bench_measurement(&n->layers[0], c->culprit ? c->culprit : c->chain[0], is_cold);
    double weights = 0.0;
    m.nnz = 0;
    for (size_t i = 0; i < n->count; i++) {
        m.nnz += n->layers[i].workload.nonzeros;
        weights += weights_of(&n->layers[i].workload.geometry);
        if (!n->layers[i].reference.is_full)
            m.verified = "sampled";
    }
    m.name = n->name;
    m.problem = n->problem;
    m.sparsity = 1.0 - (double)m.nnz / weights;
    m.pattern = n->pattern;
    m.algorithm = c->name;
    m.chosen = c->is_automatic;
    m.math = common(n, c, math_of, "mixed");
    m.layout = common(n, c, layout_of, "mixed");
    return m;
}

/* Of the chain: the automatic choice takes csrconv's own, which may be of several kinds. */
static struct result result_of(const struct network *n, const struct contender *c, bool is_cold)
{
    const csrconv_algorithm_info *const a = &c->chain[0]->algorithm;
    return (struct result){ .status = c->status,
                            .measurement = measurement_of(n, c, is_cold),
                            .is_peer = a->is_peer,
                            .is_dense = a->is_dense };
}

int network_report_untimed(const struct network *n, const struct contender *c, bool is_cold,
                           struct report *report)
{
    struct result result = result_of(n, c, is_cold);
    result.reason = c->reason;
    return report_add(report, &result);
}

/* How many layers each algorithm of the chain has: "cuda_split 30, cuda_jit 9". */
static void count_algorithms(const struct network *n, const struct contender *c, char *text,
                             size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < n->count; i++) {
        const char *const name = c->chain[i]->algorithm.name;
        size_t before = 0, layers = 0;
        for (size_t j = 0; j < n->count; j++) {
            const bool is_same = strcmp(c->chain[j]->algorithm.name, name) == 0;
            before += is_same && j < i;
            layers += is_same;
        }
        if (!before && used < size)
            used += (size_t)snprintf(text + used, size - used, "%s%s on %zu layers",
                                     used ? ", " : "", name, layers);
    }
}

int network_report_timing(const struct network *n, const struct contender *c,
                          const struct timing *t, bool is_cold, struct report *report)
{
    const struct sums sums = sums_of(n, c);
    struct result result = result_of(n, c, is_cold);
    struct measurement *const m = &result.measurement;
    char detail[CSRCONV_DETAIL_BYTES];
    struct remark remark;
    count_algorithms(n, c, detail, sizeof detail);
    remark = bench_remark(t, detail, common(n, c, variant_of, "one for each layer"));
    result.detail = remark.detail;
    result.estimate_us = sums.estimate_us;
    result.layers_us = is_cold ? 0.0 : sums.alone_us;
    bench_fill_times(m, t);
    m->plan_us = sums.plan_us;
    m->workspace_bytes = sums.workspace_bytes;
    m->plan_bytes = sums.plan_bytes;
    m->gflops_nnz = sums.flop / t->us.median * 1e-3;
    m->gflops_dense = sums.dense_flop / t->us.median * 1e-3;
    m->max_error = sums.max_error;
    m->peer_version = c->chain[0]->algorithm.version;
    m->peer_algorithm = remark.variant;
    return report_add(report, &result);
}
