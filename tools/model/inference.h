/*
 * A graph made ready to be run on inputs of one shape: of the nodes that a target needs the shapes,
 * the constants, and for each convolution a plan.
 */
#ifndef CSRCONV_TOOLS_MODEL_INFERENCE_H
#define CSRCONV_TOOLS_MODEL_INFERENCE_H

#include "csrconv.h"
#include "model.h"
#include "plan_cache.h"

struct inference;

/* What there is to say of one, once it has been run. */
struct inference_info {
    size_t nodes, convolutions; /* that run */
    csrconv_device device;      /* of the convolutions */
    int ordinal;
    char algorithms[160]; /* of them, each name once */
    int64_t weights, nonzeros;
    double us, convolution_us; /* of the last run: of the whole, and in csrconv */
};

struct inference_request {
    const char *target; /* a value, or a node's first output; NULL: the model's only output */
    const char *input;  /* the name of the input's file, for complaints */
    bool folds;         /* each BatchNormalization that alone reads a convolution's output */
    const csrconv_plan_options *options; /* of all plans, but for the epilogue */
    struct plan_cache *cache;            /* that they are made by way of */
};

/* Of inputs of that shape. The model has to outlive *out. */
int inference_create(const struct model *model, const struct inference_request *request,
                     const struct tensor *shape, struct inference **out);

/* *output gets the target, to be freed. */
int inference_run(struct inference *inference, const struct tensor *input, struct tensor *output);

void inference_describe(const struct inference *inference, struct inference_info *info);

/* NULL is accepted. */
void inference_destroy(struct inference **inference);

#endif
