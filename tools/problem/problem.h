/* What verify and bench run: a convolution with its name, and lists of them. */
#ifndef CSRCONV_TOOLS_PROBLEM_PROBLEM_H
#define CSRCONV_TOOLS_PROBLEM_PROBLEM_H

#include "csrconv.h"

enum { PROBLEM_NAME_SIZE = 128, PROBLEM_TEXT_SIZE = 512 };

/* Real weights of a problem, OIHW. */
struct problem_weights {
    float *oihw;
    int64_t count;
    char digest[32]; /* of what they are as CSR, such as "fnv1a:0123456789abcdef" */
};

struct problem {
    csrconv_geometry geometry; /* checked: csrconv_output_size accepts it */
    int64_t batch_default;     /* of the descriptor or table, whatever geometry.batch becomes */
    double sparsity;           /* published for this layer, or of its weights; < 0: none */
    struct problem_weights *weights; /* NULL: to be generated */
    char name[PROBLEM_NAME_SIZE];
};

/* {0} is an empty list. */
struct problem_list {
    struct problem *items;
    size_t count, capacity;
};

/* Appends a copy, which takes over the weights in any case. Returns an exit_code and complains. */
int problem_list_add(struct problem_list *list, const struct problem *problem);
void problem_list_clear(struct problem_list *list);

/*
 * Gives a problem real weights of its filters and kernel, and their sparsity: a copy. Returns an
 * exit_code and complains.
 */
int problem_set_weights(struct problem *problem, const float *oihw, const char *digest);

/*
 * The benchdnn descriptor of a valid geometry, in canonical order; text has PROBLEM_TEXT_SIZE
 * bytes. Parsed again, it gives the same convolution: the output fixes the bottom and right
 * padding, so padding that no output reads (the rest of a division by the stride) comes back as 0.
 */
void problem_format(const csrconv_geometry *geometry, char *text);

#endif
