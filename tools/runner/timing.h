/*
 * Times trials side by side, or chains of them, such as the layers of a network by one algorithm
 * each: every round takes one sample of each in turn, so that a drift of the machine meets all of
 * them. A sample is a number of executes in a row, divided by it; on a GPU the row is one graph.
 */
#ifndef CSRCONV_TOOLS_TIMING_H
#define CSRCONV_TOOLS_TIMING_H

#include "report/statistics.h"
#include "trial.h"

enum { TIMING_MOST_SAMPLES = 1000 };

struct timing_options {
    double min_time_s; /* of samples for each trial; 0: the usual number of rounds is enough */
    bool is_cold;      /* single executes after 256 MB were written, in place of rows of them */
    bool is_single;    /* single executes, each after one that is not timed */
};

struct timing {
    const char *name;            /* for complaints */
    struct trial *const *trials; /* all have passed; executed one behind the other */
    int64_t length;
    char failure[384]; /* why it failed meanwhile, and has no times; "": it has */
    struct row row;    /* what a sample runs */
    int64_t samples;
    double sample_us[TIMING_MOST_SAMPLES];
    struct statistics us;
    double prepare_us; /* median of the passes over the activations; 0: none */
};

/* Of `length` trials; the pointers to them must outlive it. */
void timing_init(struct timing *timing, const char *name, struct trial *const *trials,
                 int64_t length);

/* Records the trials as they are when they are timed, and runs that once. Returns an exit_code. */
int timing_rehearse(const struct timing *timing);

/* Fills `count` timings that were set up. After a failure of one the others go on. */
void timing_run(struct timing *timings, int count, const struct timing_options *options);

#endif
