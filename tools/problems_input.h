/* The problems that verify and bench are asked for: PROBLEM arguments and network tables. */
#ifndef CSRCONV_TOOLS_PROBLEMS_INPUT_H
#define CSRCONV_TOOLS_PROBLEMS_INPUT_H

#include "number.h"
#include "problem/problem.h"

#include <stdbool.h>

struct problems_request {
    const struct text_list *arguments; /* descriptors, @FILE or model files */
    const char *network;               /* NAME or FILE.csv, or NULL */
    bool all_layers;
    const char *input_shape; /* of models, or NULL */
    bool folds;              /* BatchNormalization, in models */
};

/* Appends to the list. Returns an exit_code, having complained. */
int problems_input(const struct problems_request *request, struct problem_list *list);

/* One point of the product of problems, batches and sparsities. */
struct problem_point {
    const struct problem *problem;
    csrconv_geometry geometry; /* at the batch of the point */
    double sparsity;
    double asked; /* the same where it was given, else 0 */
};

/*
 * The points of one problem: every batch (its own if the list is empty) by every sparsity (the
 * published one or that of its weights, or 0.9 where there is none).
 */
int problem_points(const struct whole_list *batches, const struct real_list *sparsities);
int problem_point(const struct problem *problem, const struct whole_list *batches,
                  const struct real_list *sparsities, int index, struct problem_point *point);

#endif
