/* The layers of a model that may be pruned: each tensor of weights once, its convolutions behind.
 */
#ifndef CSRCONV_TOOLS_PRUNE_MODEL_H
#define CSRCONV_TOOLS_PRUNE_MODEL_H

#include "filter_statistics.h"
#include "model/convolutions.h"
#include "number.h"
#include "prune/method.h"

#include <stdbool.h>

struct prune_model {
    struct model *model;
    struct convolution_list convolutions;
    struct prune_layer *layers;       /* those that may be pruned, not the excluded ones */
    size_t *convolution;              /* of each layer, the first that has its weights */
    struct filter_statistics *before; /* of each layer */
    size_t count;
};

/*
 * All layers but those named in `excluded`, with the sparsity that is given (< 0: left alone). A
 * name that is no layer's is refused. input_shape is that of shapes_make.
 */
int prune_model_make(struct model *model, const char *input_shape, const struct text_list *excluded,
                     double sparsity, struct prune_model *out);
void prune_model_free(struct prune_model *prune);

bool prune_model_has_name(const struct prune_model *prune, size_t layer, const char *name);

/* Of a layer as it is now. */
int prune_model_statistics(const struct prune_model *prune, size_t layer,
                           struct filter_statistics *out);

/* Hands the layers' weights to the model, to be written; as CSR if asked for. */
int prune_model_finish(struct prune_model *prune, bool is_csr);

#endif
