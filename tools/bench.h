/*
 * One point of a benchmark, a layer or the layers of a network together: verifies the algorithms on
 * it, times those that passed, reports.
 */
#ifndef CSRCONV_TOOLS_BENCH_H
#define CSRCONV_TOOLS_BENCH_H

#include "choices.h"
#include "number.h"
#include "problems_input.h"
#include "report/progress.h"
#include "report/report.h"
#include "runner/timing.h"

struct bench_request {
    csrconv_device device;
    int ordinal;
    const char *device_name;
    const int *wanted;                        /* by index of selection_algorithm */
    const csrconv_algorithm *const *variants; /* measured besides; NULL-ended, or NULL */
    const struct whole_list *threads;         /* of a CPU; empty: all */
    uint64_t seed;
    double min_time_s;
    bool is_cold;                     /* measure with cold caches too */
    bool is_one_sparsity;             /* say by the model from which one it would pay */
    bool is_explained;                /* measure the peak beside each time */
    bool is_tuned;                    /* the automatic choice measures */
    bool is_graph;                    /* for bench_network */
    const struct choice_list *loaded; /* automatic choices to take where they fit, or NULL */
    struct choice_list *saved;        /* gets those that were taken, or NULL */
};

struct bench_count {
    int64_t measured, failed, idle; /* idle: points where nothing ran */
    int64_t timed, disturbed;       /* points; disturbed: while other processes took the CPU */
};

/*
 * Returns an exit_code, having complained, if the point's input is bad. One that cannot be set up,
 * for want of memory or because the GPU has failed, is a warning and counts as failed, or as idle
 * if the machine could never hold it: what was measured before is not lost.
 */
int bench_point(const struct bench_request *request, const struct problem_point *point,
                struct report *report, struct bench_count *count);

/*
 * The same for `layers` points executed one behind the other, each with weights and tensors of its
 * own: on a GPU as one graph. Contenders are the automatic choice, taken layer by layer, and each
 * wanted algorithm that runs them all. They take bench_network_steps of `progress`, of which `done`
 * are done: each layer is made once, and planned for and verified by each team.
 */
int bench_network(const struct bench_request *request, const struct problem_point *points,
                  size_t layers, struct progress *progress, int64_t done, struct report *report,
                  struct bench_count *count);

int64_t bench_network_steps(const struct bench_request *request, size_t layers);

#endif
