/*
 * Network tables: CSV with one convolution layer a line.
 *
 *     layer,C,H,W,M,R,S                        needed: name, input, filters, kernel
 *     net,N_default                            network (else the file's name), batch (1)
 *     stride_h,stride_w,pad_h,pad_w            (1, 1, 0, 0)
 *     dil_h,dil_w,groups                       dilation, 1 = none; C and M are over all groups
 *     sparsity                                 published for this layer; empty: none
 *
 * Other columns are ignored. A layer is named network:layer.
 */
#ifndef CSRCONV_TOOLS_PROBLEM_NETWORK_H
#define CSRCONV_TOOLS_PROBLEM_NETWORK_H

#include "problem/problem.h"

#include <stdbool.h>

/* Where this build looks for NAME.csv: where it is installed, then its source tree; NULL ends it.
 */
extern const char *const network_directories[];

/*
 * Appends the layers of a network, at its batch, that have a published sparsity of at least 0.5, or
 * all of them. The table is a file if `network` has a '/' or ends in .csv, else NAME.csv in the
 * first of the directories that has it. None that qualifies is an error. Returns an exit_code and
 * complains.
 */
int network_load(const char *const *directories, const char *network, bool all_layers,
                 struct problem_list *list);

#endif
