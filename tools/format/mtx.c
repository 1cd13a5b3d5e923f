/*
 * Matrix Market (NIST): "%%MatrixMarket matrix coordinate|array FIELD SYMMETRY", comments, sizes,
 * entries. A coordinate file is a sparse matrix with 1-based indices in any order; an array file is
 * dense, column by column.
 */
#include "complain.h"
#include "format.h"
#include "text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char start_of_file[] = "%%MatrixMarket";

enum layout { COORDINATE, ARRAY };
enum field { REAL, INTEGER, PATTERN };
enum symmetry { GENERAL, SYMMETRIC, SKEW_SYMMETRIC };

struct banner {
    int layout, field, symmetry;
};

struct entry {
    int32_t row, col; /* 0-based */
    float value;
};

static bool probe_mtx(const uint8_t *data, size_t size)
{
    const size_t length = sizeof start_of_file - 1;
    return size >= length && strncasecmp((const char *)data, start_of_file, length) == 0;
}

static int wrong(const char *path, const struct text *text, const char *wanted)
{
    char quote[TEXT_QUOTE];
    return complain(EXIT_BAD, path, "line %" PRId64 ": %s expected, not %s", text_line(text),
                    wanted, text_quote(text, quote));
}

/* One word of the banner out of `words`, ended by NULL; its index is what the enums say. */
static int take_choice(const char *path, struct text *text, const char *const *words,
                       const char *wanted, int *choice)
{
    struct text rest = *text;
    char word[24];
    text_take_word(&rest, word, sizeof word);
    for (int i = 0; words[i]; i++)
        if (strcasecmp(word, words[i]) == 0) {
            *text = rest;
            *choice = i;
            return EXIT_DONE;
        }
    return wrong(path, text, wanted);
}

static int read_banner(const char *path, struct text *text, struct banner *banner)
{
    static const char *const objects[] = { "matrix", NULL };
    static const char *const layouts[] = { "coordinate", "array", NULL };
    static const char *const fields[] = { "real", "integer", "pattern", NULL };
    static const char *const symmetries[] = { "general", "symmetric", "skew-symmetric", NULL };
    int object;
    text->at += sizeof start_of_file - 1;
    int code = take_choice(path, text, objects, "'matrix'", &object);
    if (code == EXIT_DONE)
        code = take_choice(path, text, layouts, "'coordinate' or 'array'", &banner->layout);
    if (code == EXIT_DONE)
        code = take_choice(path, text, fields, "'real', 'integer' or 'pattern'", &banner->field);
    if (code == EXIT_DONE)
        code = take_choice(path, text, symmetries, "'general', 'symmetric' or 'skew-symmetric'",
                           &banner->symmetry);
    if (code != EXIT_DONE)
        return code;
    if (banner->layout == ARRAY && banner->field == PATTERN)
        return complain(EXIT_BAD, path, "an array cannot be a pattern");
    if (banner->field == PATTERN && banner->symmetry == SKEW_SYMMETRIC)
        return complain(EXIT_BAD, path, "a pattern cannot be skew-symmetric");
    return EXIT_DONE;
}

static void skip_comments(struct text *text)
{
    text_skip_line(text);
    while (text_take_char(text, '%'))
        text_skip_line(text);
}

/* Rows, columns and, of a coordinate file, entries. */
static int take_sizes(const char *path, struct text *text, const struct banner *banner,
                      int64_t sizes[3])
{
    static const char *const names[] = { "the number of rows", "the number of columns",
                                         "the number of entries" };
    const int count = banner->layout == ARRAY ? 2 : 3;
    for (int i = 0; i < count; i++)
        if (!text_take_integer(text, &sizes[i]))
            return wrong(path, text, names[i]);
    if (banner->symmetry != GENERAL && sizes[0] != sizes[1])
        return complain(EXIT_BAD, path,
                        "%" PRId64 " rows and %" PRId64 " columns are not symmetric", sizes[0],
                        sizes[1]);
    return tensor_check_shape(path, sizes[0], sizes[1]);
}

static int take_value(const char *path, struct text *text, int field, float *value,
                      int64_t *overflows)
{
    int64_t integer;
    bool overflowed = false;
    if (field == INTEGER && !text_take_integer(text, &integer))
        return wrong(path, text, "an integer");
    if (field == REAL && !text_take_real(text, value, &overflowed))
        return wrong(path, text, "a number");
    if (field == INTEGER)
        *value = (float)integer;
    *overflows += overflowed;
    return EXIT_DONE;
}

/* A 1-based index up to `most`. */
static int take_index(const char *path, struct text *text, const char *what, int64_t most,
                      int32_t *index)
{
    int64_t number;
    if (!text_take_integer(text, &number))
        return wrong(path, text, what);
    if (number < 1 || number > most)
        return complain(EXIT_BAD, path,
                        "line %" PRId64 ": %s %" PRId64 " is not within 1 to %" PRId64,
                        text_line(text), what, number, most);
    *index = (int32_t)(number - 1);
    return EXIT_DONE;
}

static int take_end(const char *path, struct text *text)
{
    text_skip_space(text);
    return text_at_end(text) ? EXIT_DONE : wrong(path, text, "the end of the file");
}

static void note_values(const struct banner *banner, int64_t overflows, struct tensor *out)
{
    if (banner->field == INTEGER)
        tensor_note(out, "integers converted to float32");
    if (overflows > 0)
        tensor_note(out, "%" PRId64 " values beyond float32 became infinite", overflows);
    if (banner->symmetry != GENERAL)
        tensor_note(out, "symmetric entries mirrored");
}

/* ---------------------------------------------------------------------------------- coordinate */

static int take_entries(const char *path, struct text *text, const struct banner *banner,
                        const int64_t sizes[3], struct entry *entries, int64_t *overflows)
{
    int code = EXIT_DONE;
    for (int64_t i = 0; i < sizes[2] && code == EXIT_DONE; i++) {
        struct entry *const entry = &entries[i];
        code = take_index(path, text, "row", sizes[0], &entry->row);
        if (code == EXIT_DONE)
            code = take_index(path, text, "column", sizes[1], &entry->col);
        if (code == EXIT_DONE)
            code = take_value(path, text, banner->field, &entry->value, overflows);
        if (code == EXIT_DONE && banner->symmetry == SKEW_SYMMETRIC && entry->row == entry->col)
            code = complain(EXIT_BAD, path,
                            "line %" PRId64 ": an entry on the diagonal of a skew-symmetric matrix",
                            text_line(text));
    }
    return code == EXIT_DONE ? take_end(path, text) : code;
}

static bool is_mirrored(const struct banner *banner, const struct entry *entry)
{
    return banner->symmetry != GENERAL && entry->row != entry->col;
}

/* Leaves in indptr where each row starts. */
static void count_rows(const struct banner *banner, const struct entry *entries, int64_t count,
                       int64_t rows, int64_t *indptr)
{
    int64_t total = 0;
    memset(indptr, 0, (size_t)(rows + 1) * sizeof *indptr);
    for (int64_t i = 0; i < count; i++) {
        indptr[entries[i].row]++;
        if (is_mirrored(banner, &entries[i]))
            indptr[entries[i].col]++;
    }
    for (int64_t row = 0; row <= rows; row++) {
        const int64_t length = indptr[row];
        indptr[row] = total;
        total += length;
    }
}

static void place(struct tensor *out, int32_t row, int32_t col, float value)
{
    const int64_t at = out->indptr[row]++;
    out->indices[at] = col;
    if (out->values)
        out->values[at] = value;
}

/* Entries of a row keep the order of the file. */
static void place_all(const struct banner *banner, const struct entry *entries, int64_t count,
                      struct tensor *out)
{
    for (int64_t i = 0; i < count; i++) {
        const struct entry *const entry = &entries[i];
        place(out, entry->row, entry->col, entry->value);
        if (is_mirrored(banner, entry))
            place(out, entry->col, entry->row,
                  banner->symmetry == SKEW_SYMMETRIC ? -entry->value : entry->value);
    }
    /* Every start has moved to its row's end, which is the next row's start. */
    memmove(out->indptr + 1, out->indptr, (size_t)out->rows * sizeof *out->indptr);
    out->indptr[0] = 0;
}

static int build_csr(const char *path, const struct banner *banner, const struct entry *entries,
                     const int64_t sizes[3], struct tensor *out)
{
    const int64_t most = sizes[2] * (banner->symmetry == GENERAL ? 1 : 2);
    const int code = tensor_make_csr(path, sizes[0], sizes[1], most, banner->field != PATTERN, out);
    if (code != EXIT_DONE)
        return code;
    count_rows(banner, entries, sizes[2], out->rows, out->indptr);
    place_all(banner, entries, sizes[2], out);
    return EXIT_DONE;
}

/* Empty rows take no byte of the file, so their number is bounded by more than its size. */
static int check_claims(const char *path, const int64_t sizes[3], size_t size)
{
    const int64_t bytes = (int64_t)size;
    const int64_t common_rows = 1 << 16;
    if (sizes[2] < 0 || sizes[2] > bytes / 4) /* "1 1\n" */
        return complain(EXIT_BAD, path,
                        "claims %" PRId64 " entries, which its %zu bytes cannot hold", sizes[2],
                        size);
    if (sizes[0] > common_rows && sizes[0] > bytes)
        return complain(EXIT_BAD, path, "claims %" PRId64 " rows in a file of %zu bytes", sizes[0],
                        size);
    return EXIT_DONE;
}

static int read_coordinate(const char *path, struct text *text, size_t size,
                           const struct banner *banner, struct tensor *out)
{
    int64_t sizes[3], overflows = 0;
    int code = take_sizes(path, text, banner, sizes);
    if (code == EXIT_DONE)
        code = check_claims(path, sizes, size);
    if (code != EXIT_DONE)
        return code;
    struct entry *const entries = calloc((size_t)sizes[2] + 1, sizeof *entries);
    if (!entries)
        return complain(EXIT_WRONG, path, "out of memory");
    code = take_entries(path, text, banner, sizes, entries, &overflows);
    if (code == EXIT_DONE)
        code = build_csr(path, banner, entries, sizes, out);
    if (code == EXIT_DONE)
        note_values(banner, overflows, out);
    free(entries);
    return code;
}

/* --------------------------------------------------------------------------------------- array */

/* Of a symmetric array only the lower triangle is in the file, of a skew one without the diagonal.
 */
static int take_columns(const char *path, struct text *text, const struct banner *banner,
                        struct tensor *out, int64_t *overflows)
{
    const int64_t rows = out->dims[0], cols = rows > 0 ? out->dims[1] : 0;
    for (int64_t col = 0; col < cols; col++) {
        const bool skew = banner->symmetry == SKEW_SYMMETRIC;
        float *const values = out->values;
        if (skew)
            values[col * cols + col] = 0.0F;
        for (int64_t row = banner->symmetry == GENERAL ? 0 : col + skew; row < rows; row++) {
            float value;
            const int code = take_value(path, text, banner->field, &value, overflows);
            if (code != EXIT_DONE)
                return code;
            if (banner->symmetry != GENERAL)
                values[col * cols + row] = skew ? -value : value;
            values[row * cols + col] = value;
        }
    }
    return take_end(path, text);
}

static int read_array(const char *path, struct text *text, size_t size, const struct banner *banner,
                      struct tensor *out)
{
    int64_t sizes[3], overflows = 0;
    int code = take_sizes(path, text, banner, sizes);
    if (code != EXIT_DONE)
        return code;
    const int64_t bytes = (int64_t)size * (banner->symmetry == GENERAL ? 1 : 2);
    if (sizes[0] * sizes[1] / 2 > bytes) /* no overflow: 2^24 * 2^31 at the most */
        return complain(EXIT_BAD, path,
                        "claims %" PRId64 " x %" PRId64 " values, which its %zu bytes cannot hold",
                        sizes[0], sizes[1], size);
    code = tensor_make_dense(path, 2, sizes, out);
    if (code == EXIT_DONE)
        code = take_columns(path, text, banner, out, &overflows);
    if (code == EXIT_DONE)
        note_values(banner, overflows, out);
    return code;
}

static int read_mtx(const char *path, const uint8_t *data, size_t size, struct tensor *out)
{
    struct text text = text_of(data, size);
    struct banner banner;
    int code = read_banner(path, &text, &banner);
    if (code != EXIT_DONE)
        return code;
    skip_comments(&text);
    if (banner.layout == ARRAY)
        code = read_array(path, &text, size, &banner, out);
    else
        code = read_coordinate(path, &text, size, &banner, out);
    if (code != EXIT_DONE)
        tensor_free(out);
    return code;
}

/* Nine digits bring every float back bit for bit. */
static int write_mtx(const char *path, const struct tensor *csr, FILE *stream)
{
    (void)path;
    fprintf(stream, "%s matrix coordinate real general\n%" PRId64 " %" PRId64 " %" PRId64 "\n",
            start_of_file, csr->rows, csr->cols, tensor_count(csr));
    for (int64_t row = 0; row < csr->rows; row++)
        for (int64_t i = csr->indptr[row]; i < csr->indptr[row + 1]; i++)
            fprintf(stream, "%" PRId64 " %" PRId64 " %.9g\n", row + 1, (int64_t)csr->indices[i] + 1,
                    (double)csr->values[i]);
    return EXIT_DONE;
}

const struct format format_mtx = {
    .name = "mtx",
    .extension = ".mtx",
    .stores = TENSOR_CSR,
    .probe = probe_mtx,
    .read = read_mtx,
    .write = write_mtx,
};
