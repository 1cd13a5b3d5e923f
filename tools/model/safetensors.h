/*
 * The parts of the safetensors reader and writer. A file is the size of a header in 8 bytes, the
 * header in JSON, and the data. A sparse matrix is three tensors, NAME.indptr, NAME.indices and
 * NAME.values, and the shape of the whole in the metadata: "NAME.shape": "64,3,3,3".
 */
#ifndef CSRCONV_TOOLS_MODEL_SAFETENSORS_H
#define CSRCONV_TOOLS_MODEL_SAFETENSORS_H

#include "model.h"

#include <jansson.h>

enum { SAFETENSORS_SIZE_BYTES = 8, SAFETENSORS_CSR_PARTS = 3 };

/* ".indptr", ".indices", ".values". */
extern const char *const safetensors_csr_suffixes[SAFETENSORS_CSR_PARTS];

extern const struct model_format model_format_safetensors;

/* NAME.suffix, to be freed; NULL: no memory. */
char *safetensors_part_name(const char *name, const char *suffix);

#define SAFETENSORS_METADATA "__metadata__"

/* The header as JSON, of a model that was read: an object, to be decref'ed. */
json_t *safetensors_header(const struct model *model);

/* Joins the parts of CSR tensors to one tensor each; metadata may be NULL. */
int safetensors_join_csr(struct model *model, json_t *metadata);

/* The name of a type in the header; NULL for MODEL_OTHER. */
const char *safetensors_dtype_name(enum model_dtype dtype);

int safetensors_write(const struct model *model, const char *path, FILE *stream);

#endif
