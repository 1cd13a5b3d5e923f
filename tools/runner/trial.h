/* One algorithm on one workload: planned, verified, and ready to be timed. */
#ifndef CSRCONV_TOOLS_TRIAL_H
#define CSRCONV_TOOLS_TRIAL_H

#include "reference.h"
#include "stage.h"

enum trial_status {
    TRIAL_PASSED,
    TRIAL_FAILED, /* wrong result, or the computation failed */
    TRIAL_REFUSED /* the algorithm does not run this problem: a skip */
};

struct trial {
    csrconv_algorithm_info algorithm;
    struct stage *stage;
    csrconv_plan *plan; /* NULL if there is none */
    csrconv_plan_info info;
    void *workspace;
    double plan_us;
    enum trial_status status;
    char reason[384]; /* why it failed or was refused */
    double max_error; /* as a fraction of the bound */
};

/*
 * Makes the plan and its workspace; the algorithm is one of csrconv's own, a peer, or a test's. A
 * refusal or a failure is told by status and reason. threads is
 * for CPU plans; 0 = all.
 */
void trial_make(struct stage *stage, const csrconv_algorithm *algorithm, int threads,
                struct trial *trial);
void trial_free(struct trial *trial);

/*
 * Executes n images into an output full of NaN and holds it against the reference. A second run
 * must give the same bits, and so must, on a GPU, three replays of a graph of one execute; one of a
 * peer's must be right, if it can be captured at all. Sets status.
 */
void trial_verify(struct trial *trial, const struct reference *reference, int64_t n);

/*
 * Holds the output that the last run left at the stage against the reference, whatever ran with it.
 * Sets status.
 */
void trial_check_output(struct trial *trial, const struct reference *reference);

/* What goes wrong later than in trial_verify: sets status and reason. */
void trial_fail(struct trial *trial, const char *reason);

/* Executes once, for the clock; waits only on a CPU. */
csrconv_status trial_execute(const struct trial *trial, int64_t n);

/* What is timed: an execute of the batch, or a peer's computation between layouts of its own. */
csrconv_status trial_execute_timed(const struct trial *trial);

/* Whether the time leaves layout passes out, as that of a peer with a layout of its own does. */
bool trial_is_without_layout(const struct trial *trial);

/* Runs the passes over the activations alone; CSRCONV_NOT_SUPPORTED if there are none. */
csrconv_status trial_lay_out(const struct trial *trial);

/* After a sampled reference: the first trial that passed is held against another, both ways. */
void trial_cross_check(struct trial *trial, struct trial *other);

#endif
