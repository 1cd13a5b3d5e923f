#include "safetensors.h"

#include "complain.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

const char *const safetensors_csr_suffixes[] = { ".indptr", ".indices", ".values" };

enum { INDPTR, INDICES, VALUES };

struct parts {
    size_t index[SAFETENSORS_CSR_PARTS];
    const struct model_tensor *tensor[SAFETENSORS_CSR_PARTS];
};

char *safetensors_part_name(const char *name, const char *suffix)
{
    const size_t length = strlen(name), more = strlen(suffix);
    char *const whole = malloc(length + more + 1);
    if (whole) {
        memcpy(whole, name, length);
        memcpy(whole + length, suffix, more + 1);
    }
    return whole;
}

static int refuse(const struct model *model, const char *name, const char *what)
{
    return complain(EXIT_BAD, model->path, "sparse tensor %s: %s", name, what);
}

/* The tensors by name, as they are before any are joined. */
struct name {
    const char *name;
    size_t index;
};

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct name *)a)->name, ((const struct name *)b)->name);
}

static struct name *sort_names(const struct model *model)
{
    struct name *const names = malloc((model->tensor_count + 1) * sizeof *names);
    for (size_t i = 0; names && i < model->tensor_count; i++)
        names[i] = (struct name){ model->tensors[i].name, i };
    if (names)
        qsort(names, model->tensor_count, sizeof *names, by_name);
    return names;
}

/* The tensor NAME.suffix; MODEL_NONE if there is none. */
static size_t find_part(const struct model *model, const struct name *names, const char *name,
                        const char *suffix)
{
    struct name wanted = { .name = "" };
    char *const whole = safetensors_part_name(name, suffix);
    if (!whole)
        return MODEL_NONE;
    wanted.name = whole;
    const struct name *const found =
        bsearch(&wanted, names, model->tensor_count, sizeof *names, by_name);
    free(whole);
    return found ? found->index : MODEL_NONE;
}

static bool find_parts(const struct model *model, const struct name *names, const char *name,
                       struct parts *parts)
{
    for (int p = 0; p < SAFETENSORS_CSR_PARTS; p++) {
        parts->index[p] = find_part(model, names, name, safetensors_csr_suffixes[p]);
        if (parts->index[p] == MODEL_NONE)
            return false;
        parts->tensor[p] = &model->tensors[parts->index[p]];
    }
    return true;
}

/* "64,3,3,3" */
static int read_shape(const struct model *model, const char *shape, struct model_tensor *out)
{
    const char *at = shape;
    do {
        int64_t dim = 0;
        const char *const start = at;
        for (; *at >= '0' && *at <= '9'; at++)
            if (__builtin_mul_overflow(dim, 10, &dim) ||
                __builtin_add_overflow(dim, *at - '0', &dim))
                return refuse(model, out->name, "its shape is too large");
        if (at == start || (*at && *at != ',') || out->rank == TENSOR_MAX_RANK)
            return refuse(model, out->name, "its shape in the metadata is no list of 1 to 8 sizes");
        out->dims[out->rank++] = dim;
    } while (*at++);
    if (!tensor_product(out->rank, out->dims, &out->count))
        return refuse(model, out->name, "its shape is too large");
    return EXIT_DONE;
}

static int check_parts(const struct model *model, const struct parts *parts,
                       const struct model_tensor *tensor)
{
    const struct model_tensor *const indptr = parts->tensor[INDPTR];
    const struct model_tensor *const indices = parts->tensor[INDICES];
    const struct model_tensor *const values = parts->tensor[VALUES];
    if (!model_is_integer(indptr) || !model_is_integer(indices) || !model_is_float(values))
        return refuse(model, tensor->name, "its parts are not of integers and floats");
    if (indptr->rank != 1 || indices->rank != 1 || values->rank != 1)
        return refuse(model, tensor->name, "its parts are no vectors");
    if (indptr->count - 1 != tensor->dims[0] || indices->count != values->count)
        return refuse(model, tensor->name, "its parts do not have the sizes that its shape needs");
    return EXIT_DONE;
}

/* Fills the places of row m, which has entries from `from` on to `to`. */
static bool place_row(const struct model_tensor *indices, int64_t m, int64_t from, int64_t to,
                      int64_t columns, int64_t *places)
{
    int64_t last = -1;
    for (int64_t i = from; i < to; i++) {
        const int64_t column = model_integer(indices, i);
        if (column <= last || column >= columns)
            return false;
        last = column;
        places[i] = m * columns + column;
    }
    return true;
}

static int fill_places(const struct model *model, const struct parts *parts,
                       const struct model_tensor *tensor, int64_t *places)
{
    const struct model_tensor *const indptr = parts->tensor[INDPTR];
    const int64_t stored = parts->tensor[VALUES]->count, rows = tensor->dims[0];
    const int64_t columns = rows && tensor->count ? tensor->count / rows : 0;
    int64_t at = model_integer(indptr, 0);
    if (at != 0 || model_integer(indptr, rows) != stored)
        return refuse(model, tensor->name, "its row offsets do not cover its values");
    for (int64_t m = 0; m < rows; m++) {
        const int64_t end = model_integer(indptr, m + 1);
        if (end < at || end > stored)
            return refuse(model, tensor->name, "its row offsets fall");
        if (!place_row(parts->tensor[INDICES], m, at, end, columns, places))
            return complain(EXIT_BAD, model->path,
                            "sparse tensor %s: the columns of row %" PRId64
                            " are out of range, doubled or out of order",
                            tensor->name, m);
        at = end;
    }
    return EXIT_DONE;
}

static int join(struct model *model, const struct parts *parts, const char *shape,
                struct model_tensor *out, int64_t *expanded)
{
    const struct model_tensor *const values = parts->tensor[VALUES];
    int code = read_shape(model, shape, out);
    if (!code)
        code = check_parts(model, parts, out);
    if (!code)
        code = model_allow(model, out, expanded);
    if (code)
        return code;
    int64_t *const places = arena_take(&model->arena, (size_t)values->count, sizeof *places);
    if (!places)
        return complain(EXIT_WRONG, model->path, "out of memory");
    out->dtype = values->dtype;
    out->dtype_name = values->dtype_name;
    out->data = values->data;
    out->bytes = values->bytes;
    out->stored = values->count;
    out->places = places;
    for (int p = 0; p < SAFETENSORS_CSR_PARTS; p++)
        out->parts[p] = parts->tensor[p]->span;
    return fill_places(model, parts, out, places);
}

/* Puts the whole where its values are; the other parts lose their names, to be taken away. */
static void replace_parts(struct model *model, const struct parts *parts,
                          const struct model_tensor *whole)
{
    model->tensors[parts->index[VALUES]] = *whole;
    model->tensors[parts->index[INDPTR]].name = NULL;
    model->tensors[parts->index[INDICES]].name = NULL;
}

/* A part may be one of a single whole only. */
static bool is_joined(const struct parts *parts)
{
    for (int p = 0; p < SAFETENSORS_CSR_PARTS; p++)
        if (!parts->tensor[p]->name || parts->tensor[p]->places)
            return true;
    return false;
}

/* The tensor that a key of the metadata, NAME.shape, is the shape of. */
static int join_named(struct model *model, const struct name *names, const char *key,
                      const char *shape, int64_t *expanded)
{
    static const char suffix[] = ".shape";
    const size_t size = strlen(key);
    struct model_tensor whole = { 0 };
    struct parts parts;
    if (size < sizeof suffix || strcmp(key + size - strlen(suffix), suffix) != 0)
        return EXIT_DONE;
    whole.name = arena_text(&model->arena, key, size - strlen(suffix));
    if (!whole.name)
        return complain(EXIT_WRONG, model->path, "out of memory");
    if (!find_parts(model, names, whole.name, &parts))
        return EXIT_DONE;
    if (is_joined(&parts))
        return refuse(model, whole.name, "its parts are parts of another one too");
    if (find_part(model, names, whole.name, "") != MODEL_NONE)
        return refuse(model, whole.name, "there is a dense one of the same name");
    const int code = join(model, &parts, shape, &whole, expanded);
    if (!code)
        replace_parts(model, &parts, &whole);
    return code;
}

static void remove_parts(struct model *model)
{
    size_t kept = 0;
    for (size_t i = 0; i < model->tensor_count; i++)
        if (model->tensors[i].name)
            model->tensors[kept++] = model->tensors[i];
    model->tensor_count = kept;
}

int safetensors_join_csr(struct model *model, json_t *metadata)
{
    struct name *const names = sort_names(model);
    int64_t expanded = 0;
    int code = names ? EXIT_DONE : complain(EXIT_WRONG, model->path, "out of memory");
    const char *key;
    json_t *value;
    json_object_foreach(metadata, key, value) if (!code) code =
        join_named(model, names, key, json_string_value(value), &expanded);
    free(names);
    if (!code)
        remove_parts(model);
    return code;
}
