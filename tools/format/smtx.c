/*
 * .smtx of the Deep Learning Matrix Collection, a pattern without values: "rows, columns,
 * nonzeros", the rows + 1 row offsets, then the columns. Some descriptions have other line breaks
 * and no commas in the first line, so only the order of the numbers counts.
 */
#include "complain.h"
#include "format.h"
#include "text.h"

#include <inttypes.h>

static bool probe_smtx(const uint8_t *data, size_t size)
{
    struct text text = text_of(data, size);
    text_skip_space(&text);
    return !text_at_end(&text) && *text.at >= '0' && *text.at <= '9';
}

static int no_number(const char *path, const struct text *text, const char *what, int64_t index)
{
    char quote[TEXT_QUOTE];
    return complain(EXIT_BAD, path, "line %" PRId64 ": %s %" PRId64 " expected, not %s",
                    text_line(text), what, index, text_quote(text, quote));
}

static int read_sizes(const char *path, struct text *text, size_t size, int64_t sizes[3])
{
    for (int i = 0; i < 3; i++) {
        if (i > 0)
            text_take_char(text, ',');
        if (!text_take_integer(text, &sizes[i]))
            return no_number(path, text, "size", i);
    }
    const int code = tensor_check_shape(path, sizes[0], sizes[1]);
    if (code != EXIT_DONE)
        return code;
    const int64_t most = (int64_t)(size / 2); /* a number and its separator */
    if (sizes[2] < 0 || sizes[0] >= most || sizes[2] > most - sizes[0])
        return complain(EXIT_BAD, path,
                        "claims %" PRId64 " rows and %" PRId64 " nonzeros, which its %zu bytes "
                        "cannot hold",
                        sizes[0], sizes[2], size);
    return EXIT_DONE;
}

static int read_offsets(const char *path, struct text *text, struct tensor *out)
{
    for (int64_t i = 0; i <= out->rows; i++)
        if (!text_take_integer(text, &out->indptr[i]))
            return no_number(path, text, "row offset", i);
    return EXIT_DONE;
}

static int read_columns(const char *path, struct text *text, int64_t count, struct tensor *out)
{
    for (int64_t i = 0; i < count; i++) {
        int64_t column;
        if (!text_take_integer(text, &column))
            return no_number(path, text, "column", i);
        if (column < 0 || column >= out->cols)
            return complain(EXIT_BAD, path,
                            "column %" PRId64 " is %" PRId64 ", but there are %" PRId64 " columns",
                            i, column, out->cols);
        out->indices[i] = (int32_t)column;
    }
    char quote[TEXT_QUOTE];
    text_skip_space(text);
    if (text_at_end(text))
        return EXIT_DONE;
    return complain(EXIT_BAD, path, "line %" PRId64 ": %s after the last of %" PRId64 " columns",
                    text_line(text), text_quote(text, quote), count);
}

static int read_smtx(const char *path, const uint8_t *data, size_t size, struct tensor *out)
{
    struct text text = text_of(data, size);
    int64_t sizes[3];
    int code = read_sizes(path, &text, size, sizes);
    if (code == EXIT_DONE)
        code = tensor_make_csr(path, sizes[0], sizes[1], sizes[2], false, out);
    if (code == EXIT_DONE)
        code = read_offsets(path, &text, out);
    if (code == EXIT_DONE)
        code = read_columns(path, &text, sizes[2], out);
    if (code == EXIT_DONE)
        code = tensor_check_csr(path, out, sizes[2]);
    if (code != EXIT_DONE)
        tensor_free(out);
    return code;
}

const struct format format_smtx = {
    .name = "smtx",
    .extension = ".smtx",
    .stores = TENSOR_CSR,
    .probe = probe_smtx,
    .read = read_smtx,
};
