/* One point while it is measured, and how its results are made of it. */
#ifndef CSRCONV_TOOLS_BENCH_PARTS_H
#define CSRCONV_TOOLS_BENCH_PARTS_H

#include "bench.h"

struct bench {
    const struct bench_request *request;
    const struct problem_point *point;
    char descriptor[PROBLEM_TEXT_SIZE];
    struct workload workload;
    struct reference reference;
    struct stage stage;
    struct place_device device; /* as it was when the trials were timed */
    int threads;                /* of the trials below */
    int count;                  /* of the algorithms: those of the selection, then the variants */
    struct trial *trials;       /* count */
    struct timing *timings;     /* of those that passed */
    int timed;
    char chosen[64]; /* what the automatic choice takes */
};

/* What was measured of a trial, or why nothing was. Return an exit_code. */
int bench_report_timing(const struct bench *b, const struct timing *timing, bool is_cold,
                        struct report *report);
int bench_report_untimed(const struct bench *b, const struct trial *trial, bool is_cold,
                         struct report *report);

#endif
