/* Sparsities per layer as CSV, with the columns layer and sparsity; others are ignored. */
#ifndef CSRCONV_TOOLS_PRUNE_TARGETS_H
#define CSRCONV_TOOLS_PRUNE_TARGETS_H

#include "prune/model.h"

#include <stdio.h>

/* Sets the sparsity of the layers that the file names; a name that is no layer's is refused. */
int prune_targets_read(const char *path, struct prune_model *model);

/* Writes what the layers have now; read again, it prunes to the same numbers of zeros. */
void prune_targets_write(const struct prune_model *model, FILE *stream);

#endif
