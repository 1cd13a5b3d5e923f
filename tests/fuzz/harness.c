#include "harness.h"

#include "complain.h"
#include "format.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void require(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "%s (%s)\n", what, complaint());
    abort();
}

static void check_tensor(const struct tensor *tensor)
{
    const int64_t count = tensor_count(tensor);
    volatile float sum = 0.0F; /* so that every value is read */
    require(memchr(tensor->note, '\0', sizeof tensor->note) != NULL, "the note has no end");
    if (tensor->kind == TENSOR_CSR)
        require(tensor_check_shape("CSR", tensor->rows, tensor->cols) == EXIT_DONE &&
                    tensor_check_csr("CSR", tensor, count) == EXIT_DONE,
                "a bad matrix was accepted");
    for (int64_t i = 0; tensor->values && i < count; i++)
        sum = sum + tensor->values[i];
}

static bool same_floats(const float *a, const float *b, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        if (memcmp(&a[i], &b[i], sizeof *a) != 0 && (a[i] == a[i] || b[i] == b[i]))
            return false; /* of NaN any may come back */
    return true;
}

static bool same(const struct tensor *a, const struct tensor *b)
{
    const int64_t count = tensor_count(a);
    if (a->kind != b->kind || a->rank != b->rank || a->rows != b->rows || a->cols != b->cols ||
        memcmp(a->dims, b->dims, sizeof a->dims) != 0 || tensor_count(b) != count)
        return false;
    if (a->kind == TENSOR_CSR &&
        (memcmp(a->indptr, b->indptr, (size_t)(a->rows + 1) * sizeof *a->indptr) != 0 ||
         memcmp(a->indices, b->indices, (size_t)count * sizeof *a->indices) != 0))
        return false;
    return same_floats(a->values, b->values, count);
}

static void check_writing(const struct format *format, const struct tensor *tensor)
{
    struct tensor again = { 0 };
    char *data = NULL;
    size_t size = 0;
    FILE *const stream = open_memstream(&data, &size);
    require(stream != NULL, "no memory stream");
    require(format->write("OUTPUT", tensor, stream) == EXIT_DONE, "what was read is not written");
    require(fclose(stream) == 0, "no memory");
    require(format->read("OUTPUT", (const uint8_t *)data, size, &again) == EXIT_DONE,
            "what was written is not read");
    require(same(tensor, &again), "something else came back");
    tensor_free(&again);
    free(data);
}

void fuzz_format(const char *name, const uint8_t *data, size_t size)
{
    const struct format *const format = format_named(name);
    struct tensor tensor = { 0 };
    complain_clear();
    if (!format->probe(data, size))
        return;
    const int code = format->read("INPUT", data, size, &tensor);
    if (code == EXIT_DONE) {
        check_tensor(&tensor);
        if (format->write && tensor.kind == format->stores && tensor.values)
            check_writing(format, &tensor);
    } else {
        require(code == EXIT_BAD, "an exit code that is not of a bad file");
        require(strncmp(complaint(), "INPUT", 5) == 0 && !strchr(complaint(), '\n'),
                "a refusal without its line");
        require(!tensor.values && !tensor.indptr && !tensor.indices, "a refusal that left memory");
    }
    tensor_free(&tensor);
}
