/* One point while it is measured, and how its results are made of it. */
#ifndef CSRCONV_TOOLS_BENCH_PARTS_H
#define CSRCONV_TOOLS_BENCH_PARTS_H

#include "bench.h"

#include "runner/machine.h"

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
    struct trial **passed;      /* count: those of them that did */
    struct timing *timings;     /* count: of those that passed */
    int timed;
    char chosen[64]; /* what the automatic choice takes; "": nothing */
};

/*
 * Sets up what does not depend on the number of threads: request and point are set already.
 * Returns an exit_code; bench_tear_down is right after a failure too.
 */
int bench_set_up(struct bench *b);
void bench_tear_down(struct bench *b);

/* The numbers of threads that are asked for: how many, and each; 0: all, or a GPU. */
int bench_teams(const struct bench_request *request);
int bench_team_threads(const struct bench_request *request, int team);

/* The algorithms that are reported by themselves. */
const csrconv_algorithm *bench_algorithm(const struct bench *b, int index);
bool bench_is_wanted(const struct bench *b, int index);

/*
 * Finds the automatic choice, and makes and verifies the trials of the wanted algorithms, for
 * b->threads; of a network, that of the choice too. Returns an exit_code.
 */
int bench_verify(struct bench *b);
void bench_free_trials(struct bench *b);

/* Times those that passed, side by side. */
void bench_time(struct bench *b, bool is_cold, struct bench_count *count);

/* What the automatic choice takes here. Returns an exit_code. */
int bench_find_choice(struct bench *b);

/* Counts a timing that began at `start`, and tells of other processes that took the CPU. */
void bench_count_timing(const struct bench_request *request, const char *name,
                        const struct machine_use *start, struct bench_count *count);

/*
 * Counts a point that failed as a whole, by the code of why, or that the machine can never hold;
 * what comes after it may still be measured. Any other code is returned.
 */
int bench_fail_point(const char *name, int code, struct bench_count *count);

/* What a trial of the point has in common with its times. */
struct measurement bench_measurement(const struct bench *b, const struct trial *trial,
                                     bool is_cold);

/* The times that a timing fills of a measurement. */
void bench_fill_times(struct measurement *measurement, const struct timing *timing);

/* With what is told of calls that could not be captured: launches one by one take longer. */
struct remark {
    char detail[CSRCONV_DETAIL_BYTES + 160], variant[CSRCONV_VARIANT_BYTES + 24];
};
struct remark bench_remark(const struct timing *timing, const char *detail, const char *variant);

/* What was measured of a trial, or why nothing was. Return an exit_code. */
int bench_report_timing(const struct bench *b, const struct timing *timing, bool is_cold,
                        struct report *report);
int bench_report_untimed(const struct bench *b, const struct trial *trial, bool is_cold,
                         struct report *report);

#endif
