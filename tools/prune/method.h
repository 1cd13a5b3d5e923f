/* What is pruned from layers, and how it is chosen. */
#ifndef CSRCONV_TOOLS_PRUNE_METHOD_H
#define CSRCONV_TOOLS_PRUNE_METHOD_H

#include <stddef.h>
#include <stdint.h>

/*
 * Zeros = round(sparsity * weights) of magnitude and random, those that are zero already counted;
 * of equal weights the first go. Kernels and vectors go as a whole, those of the least mean
 * magnitude first, until the same number of zeros is reached as nearly as whole ones can.
 */
enum prune_kind {
    PRUNE_MAGNITUDE,
    PRUNE_RANDOM,
    PRUNE_NM, /* of each `of` consecutive channels of a filter and kernel position, `keep` stay */
    PRUNE_KERNEL, /* the R x S weights of a filter and channel */
    PRUNE_VECTOR  /* `of` consecutive filters at the same channel and kernel position */
};

struct prune_method {
    enum prune_kind kind;
    int64_t keep, of;
};

/* "magnitude", "random", "nm:N:M", "kernel" or "vector:V". */
int prune_method_parse(const char *text, struct prune_method *out);

/* A filter bank, OIHW. */
struct prune_layer {
    const char *name;
    float *weights;
    int64_t filters, channels, positions; /* channels of a group; positions = R * S */
    double sparsity; /* to be reached by this layer alone; < 0: it stays as it is */
};

int64_t prune_layer_size(const struct prune_layer *layer);
int64_t prune_layer_zeros(const struct prune_layer *layer);

/* Prunes each layer to its own sparsity. PRUNE_NM does to all that have one >= 0 what it says. */
int prune_each(const struct prune_method *method, uint64_t seed, struct prune_layer *layers,
               size_t count);

/* Prunes those with a sparsity >= 0 to `sparsity` together. Not for PRUNE_NM. */
int prune_together(const struct prune_method *method, uint64_t seed, double sparsity,
                   struct prune_layer *layers, size_t count);

#endif
