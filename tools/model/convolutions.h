/* The convolutions of a model, with their weights and what is known of their geometry. */
#ifndef CSRCONV_TOOLS_MODEL_CONVOLUTIONS_H
#define CSRCONV_TOOLS_MODEL_CONVOLUTIONS_H

#include "csrconv.h"
#include "shapes.h"

/*
 * A Conv node whose weights are a constant, or where there is no graph a 4-D tensor of floats:
 * (M, C / groups, R, S).
 */
struct convolution {
    const char *name;  /* of the node; where it has none, of the weights */
    size_t node;       /* MODEL_NONE without a graph */
    size_t weights;    /* a tensor; two nodes may share it */
    size_t bias;       /* a tensor, or MODEL_NONE */
    size_t batch_norm; /* the BatchNormalization that alone reads the output, or MODEL_NONE */
    bool has_geometry; /* else only filters, kernel and groups (1 without a graph) are set */
    csrconv_geometry geometry;
    int64_t out_h, out_w;
};

struct convolution_list {
    struct convolution *items;
    size_t count;
    size_t left_out; /* Conv nodes that are none of the above: not 2-D, or with computed weights */
    char why[256];   /* some have no geometry; "" */
};

/* input_shape is that of shapes_make, or NULL. */
int convolutions_of(const struct model *model, const char *input_shape,
                    struct convolution_list *out);

/* Of a graph whose shapes are known already. */
int convolutions_of_shapes(const struct model *model, const struct shapes *shapes,
                           struct convolution_list *out);

void convolution_list_free(struct convolution_list *list);

/* Whether the name is that of the convolution or of its weights. */
bool convolution_has_name(const struct model *model, const struct convolution *convolution,
                          const char *name);

/*
 * The weights (OIHW) and the bias (NULL: none), to be freed. With is_folded the
 * BatchNormalization behind is folded in: every filter is scaled, and the bias made to match.
 */
int convolution_weights(const struct model *model, const struct convolution *convolution,
                        bool is_folded, float **weights, float **bias);

#endif
