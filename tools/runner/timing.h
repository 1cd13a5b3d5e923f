/*
 * Times trials side by side: every round takes one sample of each in turn, so that a drift of the
 * machine meets all of them. A sample is a number of executes in a row, divided by it; on a GPU the
 * row is one graph.
 */
#ifndef CSRCONV_TOOLS_TIMING_H
#define CSRCONV_TOOLS_TIMING_H

#include "report/statistics.h"
#include "trial.h"

enum { TIMING_MOST_SAMPLES = 1000 };

struct timing_options {
    double min_time_s; /* of samples for each trial; 0: the usual number of rounds is enough */
    bool is_cold;      /* single executes after 256 MB were written, in place of rows of them */
};

struct timing {
    struct trial *trial;
    struct row row; /* what a sample runs */
    int64_t samples;
    double sample_us[TIMING_MOST_SAMPLES];
    struct statistics us;
    double prepare_us; /* median of the passes over the activations; 0: none */
};

/*
 * Fills the timings of `count` trials that have passed; trial is set by the caller. A trial that
 * fails meanwhile has the status from then on, and no times; the others go on.
 */
void timing_run(struct timing *timings, int count, const struct timing_options *options);

#endif
