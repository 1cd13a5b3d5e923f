/* A plan: a checked problem, the algorithm that was chosen for it and what that prepared. */
#ifndef CSRCONV_PLAN_H
#define CSRCONV_PLAN_H

#include "blob.h"
#include "choose.h"

#include <stdbool.h>

struct csrconv_plan {
    struct csrconv_memory memory;   /* of the plan itself; the algorithm's is in prepared */
    struct csrconv_problem problem; /* weights is NULL once the plan is made */
    float *bias;                    /* what problem.epilogue.bias points to */
    struct csrconv_choice choice;
    const struct csrconv_algorithm *algorithm; /* NULL until chosen */
    struct csrconv_prepared prepared;
    struct csrconv_blob_identity identity; /* if the algorithm compiled */
    int64_t nonzeros;
    uint64_t pattern; /* digest of where they are */
    double dense_estimate_us, plan_us;
};

/*
 * Runs only the passes over the activations that precede the kernel, for a clock: the whole batch
 * from in to the workspace. CSRCONV_NOT_SUPPORTED if there are none.
 */
csrconv_status csrconv_plan_lay_out(const struct csrconv_plan *plan, const float *in,
                                    void *workspace, void *stream);

/* Runs a peer's compute, after csrconv_plan_lay_out on the same workspace; whether it has one. */
csrconv_status csrconv_plan_compute(const struct csrconv_plan *plan, void *workspace, void *stream);
int csrconv_plan_has_compute(const struct csrconv_plan *plan);

/* Whether errors of neighbouring outputs mix, as Winograd's do: the verifier's bound is wider. */
bool csrconv_plan_is_mixing(const struct csrconv_plan *plan);

#endif
