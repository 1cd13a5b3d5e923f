/* What csrconv prune is asked for. */
#ifndef CSRCONV_TOOLS_PRUNE_REQUEST_H
#define CSRCONV_TOOLS_PRUNE_REQUEST_H

#include "format/file.h"
#include "number.h"
#include "prune/method.h"

#include <stdbool.h>

struct prune_request {
    const char *input, *output;
    const char *method_text;
    struct prune_method method;
    bool is_global;
    double sparsity; /* < 0: not given */
    int64_t seed;

    /* Of a model only. */
    const char *input_shape;    /* or NULL, as the next two */
    const char *layer_sparsity; /* CSV to read */
    const char *sparsities_out; /* CSV to write */
    struct text_list excluded;
    struct text_list reports; /* files that end in .md or .svg */
    int is_csr;
};

/* Prunes the file that was begun, as a model or as weights. They return an exit_code. */
int prune_model_file(const struct prune_request *request, struct file *file);
int prune_weights_file(const struct prune_request *request, struct file *file);

#endif
