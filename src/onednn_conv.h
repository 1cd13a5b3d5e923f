/* oneDNN's dense convolution, by the algorithm that is asked for: what the two peers share. */
#ifndef CSRCONV_ONEDNN_CONV_H
#define CSRCONV_ONEDNN_CONV_H

#include "algorithm.h"

/* The traits of a peer point to one of these. */
enum csrconv_onednn_kind { CSRCONV_ONEDNN_AUTO, CSRCONV_ONEDNN_WINOGRAD };

csrconv_status csrconv_onednn_estimate(const struct csrconv_algorithm *self,
                                       const struct csrconv_problem *problem,
                                       struct csrconv_estimate *estimate);
csrconv_status csrconv_onednn_prepare(const struct csrconv_algorithm *self,
                                      const struct csrconv_problem *problem,
                                      struct csrconv_prepared *prepared);
csrconv_status csrconv_onednn_lay_out(const void *state, const struct csrconv_run *run);
csrconv_status csrconv_onednn_compute(const void *state, const struct csrconv_run *run);
csrconv_status csrconv_onednn_execute(const void *state, const struct csrconv_run *run);
void csrconv_onednn_destroy(const struct csrconv_memory *memory, void *state);
const char *csrconv_onednn_version(void);

#endif
