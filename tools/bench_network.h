/* A network while it is measured, and how its results are made of it. */
#ifndef CSRCONV_TOOLS_BENCH_NETWORK_H
#define CSRCONV_TOOLS_BENCH_NETWORK_H

#include "bench_parts.h"

struct network {
    const struct bench_request *request;
    struct bench *layers;
    size_t count;
    char name[PROBLEM_NAME_SIZE + 8], problem[48], pattern[WORKLOAD_PATTERN_SIZE];
    struct trial **chains; /* count pointers for each contender */
    struct contender *contenders;
    int contender_count;
    struct timing *timings; /* room for one of each contender */
    struct progress *progress;
    int64_t done; /* of its steps */
};

/* Who runs all layers, or why it does not. */
struct contender {
    const char *name;
    bool is_automatic;
    struct trial **chain;        /* one of each layer */
    enum result_status status;   /* RESULT_MEASURED as long as nothing is in the way */
    const struct trial *culprit; /* whose status it is, if it is another one */
    char reason[512];
};

/* What was measured of a contender that runs, or why nothing was. Return an exit_code. */
int network_report_timing(const struct network *n, const struct contender *c,
                          const struct timing *t, bool is_cold, struct report *report);
int network_report_untimed(const struct network *n, const struct contender *c, bool is_cold,
                           struct report *report);

#endif
