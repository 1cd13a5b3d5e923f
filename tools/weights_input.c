#include "weights_input.h"

#include "complain.h"
#include "fnv1a.h"
#include "format/format.h"
#include "number.h"
#include "random.h"
#include "selection.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int weights_input_kernel(const char *text, int64_t kernel[3])
{
    struct whole_list list = { 0 };
    int code = number_wholes("--kernel", text, 1, INT32_MAX, &list);
    if (!code && list.count != 3)
        code = complain(EXIT_BAD, "--kernel", "\"%s\" is not C,R,S", text);
    if (!code)
        memcpy(kernel, list.items, 3 * sizeof *kernel);
    whole_list_free(&list);
    return code;
}

int weights_input_order(const char *text, bool *is_rsc)
{
    *is_rsc = strcmp(text, "rsc") == 0;
    if (*is_rsc || strcmp(text, "crs") == 0)
        return EXIT_DONE;
    return complain(EXIT_BAD, "--order", "\"%s\" is not crs or rsc", text);
}

/* The kernel of a 4-D array is its own; that of anything else has to be given. */
static int settle_kernel(const char *path, const struct tensor *t,
                         const struct weights_request *request, int64_t kernel[3])
{
    const bool is_oihw = t->kind == TENSOR_DENSE && t->rank == 4;
    char shape[TENSOR_SHAPE_TEXT];
    if (t->kind == TENSOR_DENSE && t->rank != 2 && t->rank != 4)
        return complain(EXIT_BAD, path, "shape %s is neither 4-D (OIHW) nor 2-D (M, C*R*S)",
                        tensor_shape_text(t->rank, t->dims, shape));
    if (!is_oihw && !request->kernel[0])
        return complain(EXIT_BAD, path, "needs --kernel C,R,S: only a 4-D array tells its kernel");
    if (is_oihw && request->is_rsc)
        return complain(EXIT_BAD, path, "--order rsc is for matrices; a 4-D array is OIHW");
    memcpy(kernel, is_oihw ? t->dims + 1 : request->kernel, 3 * sizeof *kernel);
    if (is_oihw && request->kernel[0] && memcmp(kernel, request->kernel, 3 * sizeof *kernel) != 0)
        return complain(EXIT_BAD, path,
                        "shape %s is not of --kernel %" PRId64 ",%" PRId64 ",%" PRId64,
                        tensor_shape_text(t->rank, t->dims, shape), request->kernel[0],
                        request->kernel[1], request->kernel[2]);
    return EXIT_DONE;
}

static int check_columns(const char *path, const struct tensor *csr, const int64_t kernel[3])
{
    int64_t columns;
    if (!__builtin_mul_overflow(kernel[0], kernel[1], &columns) &&
        !__builtin_mul_overflow(columns, kernel[2], &columns) && columns == csr->cols)
        return EXIT_DONE;
    return complain(EXIT_BAD, path,
                    "has %" PRId64 " columns, a kernel of %" PRId64 ",%" PRId64 ",%" PRId64
                    " has another number",
                    csr->cols, kernel[0], kernel[1], kernel[2]);
}

/* (r, s, c) to (c, r, s). The columns are sorted again by the library. */
static void reorder_columns(struct tensor *csr, const int64_t kernel[3])
{
    const int64_t channels = kernel[0], positions = kernel[1] * kernel[2];
    for (int64_t i = 0; i < csr->indptr[csr->rows]; i++) {
        const int64_t c = csr->indices[i] % channels, position = csr->indices[i] / channels;
        csr->indices[i] = (int32_t)(c * positions + position);
    }
}

/* Gives a bare pattern values: all ones, or in (-1, 1) and never zero. */
static int make_values(const char *path, struct tensor *csr, const char *request)
{
    const int64_t count = csr->indptr[csr->rows];
    struct random_state state;
    int64_t seed = 0;
    const bool is_ones = request && strcmp(request, "ones") == 0;
    if (!request)
        return complain(EXIT_BAD, path,
                        "holds a pattern without values: give --values ones or "
                        "--values random[:SEED]");
    if (!is_ones && strncmp(request, "random:", 7) == 0) {
        const int code = number_whole("--values", request + 7, 0, INT64_MAX, &seed);
        if (code)
            return code;
    } else if (!is_ones && strcmp(request, "random") != 0) {
        return complain(EXIT_BAD, "--values", "\"%s\" is not ones or random[:SEED]", request);
    }
    csr->values = malloc(((size_t)count + 1) * sizeof *csr->values);
    if (!csr->values)
        return complain(EXIT_WRONG, path, "no room for %" PRId64 " values", count);
    random_seed(&state, (uint64_t)seed);
    for (int64_t i = 0; i < count; i++) {
        const float size = (float)(1 + random_below(&state, (1 << 23) - 1)) * 0x1p-23F;
        csr->values[i] = is_ones ? 1.0F : random_below(&state, 2) ? size : -size;
    }
    return EXIT_DONE;
}

/* Reads one file to a CSR matrix with values and columns (c, r, s). */
static int read_matrix(const char *path, const struct weights_request *request, int64_t kernel[3],
                       struct tensor *csr, char note[256])
{
    struct tensor read;
    int code = format_read(path, &read);
    memset(csr, 0, sizeof *csr);
    if (code)
        return code;
    if (read.note[0])
        snprintf(note, 256, "%s: %s", path, read.note);
    code = settle_kernel(path, &read, request, kernel);
    if (!code && read.kind == TENSOR_DENSE) {
        code = tensor_to_csr(path, &read, csr);
        tensor_free(&read);
    } else if (!code) {
        *csr = read;
    } else {
        tensor_free(&read);
    }
    if (!code)
        code = check_columns(path, csr, kernel);
    if (!code && request->is_rsc)
        reorder_columns(csr, kernel);
    if (!code && csr->values && request->values)
        code = complain(EXIT_BAD, path, "has values of its own; --values is for bare patterns");
    if (!code && !csr->values)
        code = make_values(path, csr, request->values ? request->values : request->pattern_values);
    return code;
}

/* Puts the rows of `more` under those of `all`, for the files of groups. */
static int append_rows(const char *path, struct tensor *all, struct tensor *more)
{
    const int64_t rows = all->rows + more->rows;
    const int64_t had = all->indptr[all->rows], adds = more->indptr[more->rows];
    struct tensor joined;
    const int code = tensor_make_csr(path, rows, all->cols, had + adds, true, &joined);
    if (code)
        return code;
    memcpy(joined.indptr, all->indptr, (size_t)all->rows * sizeof *joined.indptr);
    for (int64_t m = 0; m <= more->rows; m++)
        joined.indptr[all->rows + m] = had + more->indptr[m];
    memcpy(joined.indices, all->indices, (size_t)had * sizeof *joined.indices);
    memcpy(joined.indices + had, more->indices, (size_t)adds * sizeof *joined.indices);
    memcpy(joined.values, all->values, (size_t)had * sizeof *joined.values);
    memcpy(joined.values + had, more->values, (size_t)adds * sizeof *joined.values);
    tensor_free(all);
    *all = joined;
    return EXIT_DONE;
}

/* Group `index` (from 1) must be like those before it, whose rows `all` holds. */
static int check_same(const char *path, const struct tensor *all, const int64_t first_kernel[3],
                      size_t index, const struct tensor *more, const int64_t kernel[3])
{
    if (all->rows == (int64_t)index * more->rows &&
        memcmp(first_kernel, kernel, 3 * sizeof *kernel) == 0)
        return EXIT_DONE;
    return complain(EXIT_BAD, path, "is %" PRId64 " x %" PRId64 ", unlike the groups before it",
                    more->rows, more->cols);
}

static int read_files(const struct weights_request *request, const struct text_list *files,
                      int64_t kernel[3], struct tensor *all, char note[256])
{
    int code;
    if (files->count != 1 && (int64_t)files->count != request->groups)
        return complain(EXIT_BAD, "--weights",
                        "%zu files for %" PRId64 " groups: give one file, or one for each group",
                        files->count, request->groups);
    code = read_matrix(files->items[0], request, kernel, all, note);
    for (size_t i = 1; i < files->count && !code; i++) {
        const char *path = files->items[i];
        int64_t own_kernel[3];
        struct tensor more;
        code = read_matrix(path, request, own_kernel, &more, note);
        if (!code)
            code = check_same(path, all, kernel, i, &more, own_kernel);
        if (!code)
            code = append_rows(path, all, &more);
        tensor_free(&more);
    }
    return code;
}

void weights_digest(const csrconv_csr *csr, char digest[32])
{
    const size_t nonzeros = (size_t)csr->indptr[csr->filters];
    uint64_t hash = fnv1a_start;
    hash = fnv1a(hash, csr->indptr, (size_t)(csr->filters + 1) * sizeof *csr->indptr);
    hash = fnv1a(hash, csr->indices, nonzeros * sizeof *csr->indices);
    hash = fnv1a(hash, csr->values, nonzeros * sizeof *csr->values);
    snprintf(digest, 32, "fnv1a:%016" PRIx64, hash);
}

static int make_weights(const char *where, const struct tensor *all, const int64_t kernel[3],
                        struct weights_input *input)
{
    csrconv_csr csr;
    csrconv_status status;
    csrconv_csr_init(&csr);
    csr.filters = all->rows;
    csr.channels_per_group = kernel[0];
    csr.kernel_h = kernel[1];
    csr.kernel_w = kernel[2];
    csr.indptr = all->indptr;
    csr.indices = all->indices;
    csr.values = all->values;
    status = csrconv_weights_from_csr(&csr, NULL, &input->weights);
    if (status)
        return selection_complain(where, status);
    csrconv_csr_init(&input->view);
    csrconv_weights_view(input->weights, &input->view);
    weights_digest(&input->view, input->digest);
    return EXIT_DONE;
}

int weights_input_read(const struct weights_request *request, struct weights_input *input)
{
    struct text_list files = { 0 };
    struct tensor all = { 0 };
    int64_t kernel[3];
    int code = number_texts("--weights", request->files, &files);
    memset(input, 0, sizeof *input);
    if (!code)
        code = read_files(request, &files, kernel, &all, input->note);
    if (!code)
        code = make_weights(request->files, &all, kernel, input);
    tensor_free(&all);
    text_list_free(&files);
    return code;
}

void weights_input_free(struct weights_input *input)
{
    csrconv_weights_destroy(&input->weights);
}

float *weights_input_dense(const struct weights_input *input)
{
    const csrconv_csr *v = &input->view;
    const int64_t columns = v->channels_per_group * v->kernel_h * v->kernel_w;
    float *dense = calloc((size_t)v->filters, (size_t)columns * sizeof *dense);
    if (!dense) {
        complain(EXIT_WRONG, "--weights", "no room for %" PRId64 " x %" PRId64 " dense weights",
                 v->filters, columns);
        return NULL;
    }
    for (int64_t m = 0; m < v->filters; m++)
        for (int64_t i = v->indptr[m]; i < v->indptr[m + 1]; i++)
            dense[m * columns + v->indices[i]] = v->values[i];
    return dense;
}
