/* The tensors of a workload at the place where plans run, shared by all algorithms that run there.
 */
#ifndef CSRCONV_TOOLS_STAGE_H
#define CSRCONV_TOOLS_STAGE_H

#include "place.h"
#include "workload.h"

struct stage {
    const struct place *place;
    int ordinal; /* of the device */
    const struct workload *workload;
    void *in, *residual, *out; /* copies of whole blocks */
    struct guarded result;     /* the output block, back on the host */
};

/*
 * Selects the device at its place. Returns an exit_code, having complained; stage_free is right
 * after a failure too.
 */
int stage_make(const struct workload *workload, csrconv_device device, int ordinal,
               struct stage *stage);
void stage_free(struct stage *stage);

/* Fills the output with canaries. */
int stage_clear_output(struct stage *stage);

/* Brings the output to stage->result. */
int stage_fetch_output(struct stage *stage);

/* Where the first image is, at the place. */
const float *stage_in(const struct stage *stage);
const float *stage_residual(const struct stage *stage); /* NULL: none */
float *stage_out(const struct stage *stage);

#endif
