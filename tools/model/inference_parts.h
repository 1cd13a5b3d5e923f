/* What the making and the running of an inference share. */
#ifndef CSRCONV_TOOLS_MODEL_INFERENCE_PARTS_H
#define CSRCONV_TOOLS_MODEL_INFERENCE_PARTS_H

#include "inference.h"
#include "operator.h"

/* One node that runs. */
struct step {
    const struct operator_entry *op;
    struct operation operation;
    size_t value;       /* that it makes: its node's first output, or that of a folded one behind */
    csrconv_plan *plan; /* of a Conv, else NULL */
};

struct inference {
    const struct model *model;
    struct shapes shapes;
    struct tensor *values; /* by the values of the model: shapes that stay, elements that go */
    size_t *readers;       /* how many inputs of steps each is */
    struct step *steps;
    size_t step_count, target, input;
    double us, convolution_us; /* of the last run */
};

#endif
