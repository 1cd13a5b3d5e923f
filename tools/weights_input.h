/* Weights from files of any format, as the library takes them. */
#ifndef CSRCONV_TOOLS_WEIGHTS_INPUT_H
#define CSRCONV_TOOLS_WEIGHTS_INPUT_H

#include "csrconv.h"

#include <stdbool.h>

struct weights_request {
    const char *files; /* one, or one for each group, comma-separated */
    int64_t groups;
    int64_t kernel[3];  /* C of a group, R, S; kernel[0] = 0: not given */
    bool is_rsc;        /* columns are (r, s, c), c fastest */
    const char *values; /* "ones", "random" or "random:SEED"; the file must have none; or NULL */
    const char *pattern_values; /* the same, used only if the file has none; or NULL */
};

struct weights_input {
    csrconv_weights *weights;
    csrconv_csr view;
    char note[256];  /* conversions made while reading, "" if none */
    char digest[32]; /* of everything in the CSR, such as "fnv1a:0123456789abcdef" */
};

/* Returns an exit_code, having complained with the file's name. */
int weights_input_read(const struct weights_request *request, struct weights_input *input);
void weights_input_free(struct weights_input *input);

/* Of everything in a CSR, such as "fnv1a:0123456789abcdef". */
void weights_digest(const csrconv_csr *csr, char digest[32]);

/* Three comma-separated numbers C,R,S, for --kernel. */
int weights_input_kernel(const char *text, int64_t kernel[3]);

/* "crs" or "rsc", for --order. */
int weights_input_order(const char *text, bool *is_rsc);

/* The dense OIHW array of the weights, to be freed; NULL if there is no room (complained of). */
float *weights_input_dense(const struct weights_input *input);

#endif
