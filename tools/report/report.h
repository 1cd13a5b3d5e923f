/*
 * What a run of bench came to: one result per problem, sparsity, batch, number of threads, cache
 * state and algorithm, in any order. The writers of report_format.h show it.
 */
#ifndef CSRCONV_TOOLS_REPORT_REPORT_H
#define CSRCONV_TOOLS_REPORT_REPORT_H

#include "floors.h"
#include "measurement.h"

enum result_status {
    RESULT_MEASURED, /* and verified: all of the measurement holds */
    RESULT_FAILED,   /* a wrong result or a computation that failed: reason says where */
    RESULT_SKIPPED   /* the algorithm refuses: reason says why */
};

struct result {
    enum result_status status;
    /*
     * If nothing was measured, what tells the results apart still holds: name, problem, batch,
     * sparsity, nnz, pattern, algorithm, chosen, device, math, cache, threads.
     */
    struct measurement measurement;
    const char *reason; /* NULL if measured */
    int is_peer;
    int is_dense;       /* computes with the zeros too */
    double estimate_us; /* by the cost model; 0: none */
    double layers_us; /* of a network, the sum of its layers' times by themselves; 0: no network */
    const char *detail;   /* how the algorithm maps the problem; "" or NULL: nothing to say */
    double pays_from;     /* this sparsity, by the cost model; 0: not known */
    double peak_gflops;   /* multiply-adds of these vectors and threads, measured; 0: not known */
    struct floors floors; /* of a GPU; all 0: not known */
};

struct report {
    int is_explained; /* set to have the table say how, and how near to the peak */
    int has_verdict;  /* set to have it say which layers gain, and what the whole would */
    char date[32];    /* local, ISO 8601 */
    struct result *results;
    size_t count, capacity;
};

/* An empty report of now. */
void report_init(struct report *report);

/*
 * Adds a copy, texts included: NULL texts become "", and what cannot be shown in them '?'. A
 * measurement whose median is not a positive number is kept as failed. Returns an exit_code.
 */
int report_add(struct report *report, const struct result *result);

void report_free(struct report *report);

#endif
