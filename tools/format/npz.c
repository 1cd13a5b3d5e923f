/* A matrix in CSR as scipy.sparse.save_npz writes it: a zip archive of .npy files. */
#include "archive.h"
#include "bytes.h"
#include "complain.h"
#include "format.h"
#include "npy_values.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static bool probe_npz(const uint8_t *data, size_t size)
{
    return size >= 4 && (memcmp(data, "PK\3\4", 4) == 0 ||
                         memcmp(data, "PK\5\6", 4) == 0); /* the latter: empty */
}

/* The text of an array of no dimensions, of bytes or, in old files, of unicode; cut to its size. */
static int read_string(struct archive *archive, const char *name, char *text, int size)
{
    struct member member;
    int code = archive_read(archive, name, &member);
    const struct npy_header *const header = &member.header;
    const int width = header->kind == 'U' ? 4 : 1;
    if (code == EXIT_DONE && ((header->kind != 'S' && header->kind != 'U') || header->count != 1))
        code = complain(EXIT_BAD, member.where, "its dtype is '%s', not a string", header->descr);
    int length = 0;
    for (; code == EXIT_DONE && length < header->item_size / width && length < size - 1; length++)
        text[length] = (char)load_bytes(member.bytes + header->offset + width * length, width,
                                        header->big_endian);
    text[length] = '\0';
    free(member.bytes);
    return code;
}

static int check_format(struct archive *archive)
{
    char name[16];
    const int code = read_string(archive, "format.npy", name, sizeof name);
    if (code == EXIT_DONE && strcmp(name, "csr") != 0)
        return complain(EXIT_BAD, archive->path,
                        "holds a scipy.sparse matrix in '%s'; only 'csr' is read", name);
    return code;
}

static int read_integers(struct archive *archive, const char *name, struct member *out)
{
    const int code = archive_read(archive, name, out);
    return code == EXIT_DONE ? npy_check_integers(out->where, &out->header) : code;
}

static int64_t integer_at(const struct member *member, int64_t index)
{
    return npy_integer(&member->header, member->bytes + member->header.offset, index);
}

static int read_shape(struct archive *archive, int64_t shape[2])
{
    struct member member;
    int code = read_integers(archive, "shape.npy", &member);
    if (code == EXIT_DONE && member.header.count != 2)
        code = complain(EXIT_BAD, member.where, "%" PRId64 " sizes; a matrix has 2",
                        member.header.count);
    for (int i = 0; i < 2 && code == EXIT_DONE; i++)
        shape[i] = integer_at(&member, i);
    free(member.bytes);
    return code == EXIT_DONE ? tensor_check_shape(archive->path, shape[0], shape[1]) : code;
}

/* The three arrays of a CSR matrix as they are in the file; cleared at first, freed in any case. */
struct parts {
    struct member offsets, columns, values;
};

/* Reads the arrays and compares their lengths. */
static int read_parts(struct archive *archive, int64_t rows, struct parts *parts)
{
    const struct npy_header *const offsets = &parts->offsets.header;
    const struct npy_header *const columns = &parts->columns.header;
    const struct npy_header *const values = &parts->values.header;
    int code = read_integers(archive, "indptr.npy", &parts->offsets);
    if (code == EXIT_DONE && offsets->count != rows + 1)
        code = complain(EXIT_BAD, parts->offsets.where,
                        "%" PRId64 " row offsets; %" PRId64 " rows have one more than that",
                        offsets->count, rows);
    if (code == EXIT_DONE)
        code = read_integers(archive, "indices.npy", &parts->columns);
    if (code == EXIT_DONE)
        code = archive_read(archive, "data.npy", &parts->values);
    if (code == EXIT_DONE)
        code = npy_check_floats(parts->values.where, values);
    if (code == EXIT_DONE && (values->rank != 1 || values->count != columns->count))
        code = complain(EXIT_BAD, parts->values.where,
                        "%" PRId64 " values in %d dimensions for %" PRId64 " columns in 1",
                        values->count, values->rank, columns->count);
    return code;
}

static int load_columns(const struct member *columns, struct tensor *out)
{
    for (int64_t i = 0; i < columns->header.count; i++) {
        const int64_t column = integer_at(columns, i);
        if (column < 0 || column >= out->cols)
            return complain(EXIT_BAD, columns->where,
                            "entry %" PRId64 " is column %" PRId64 ", but there are %" PRId64, i,
                            column, out->cols);
        out->indices[i] = (int32_t)column;
    }
    return EXIT_DONE;
}

static int load_parts(const char *path, const struct parts *parts, struct tensor *out)
{
    const struct member *const values = &parts->values;
    for (int64_t i = 0; i <= out->rows; i++)
        out->indptr[i] = integer_at(&parts->offsets, i);
    npy_load_floats(&values->header, values->bytes + values->header.offset, out->values, out);
    const int code = load_columns(&parts->columns, out);
    return code == EXIT_DONE ? tensor_check_csr(path, out, parts->columns.header.count) : code;
}

static int read_matrix(struct archive *archive, struct tensor *out)
{
    char list[300];
    int64_t shape[2];
    struct parts parts = { .offsets = { .bytes = NULL } };
    if (!archive_has(archive, "format.npy"))
        return complain(EXIT_BAD, archive->path,
                        "holds no matrix of scipy.sparse (no format.npy); it has: %s",
                        archive_list(archive, list, sizeof list));
    int code = check_format(archive);
    if (code == EXIT_DONE)
        code = read_shape(archive, shape);
    if (code == EXIT_DONE)
        code = read_parts(archive, shape[0], &parts);
    if (code == EXIT_DONE)
        code = tensor_make_csr(archive->path, shape[0], shape[1], parts.columns.header.count, true,
                               out);
    if (code == EXIT_DONE)
        code = load_parts(archive->path, &parts, out);
    if (code != EXIT_DONE)
        tensor_free(out);
    free(parts.offsets.bytes);
    free(parts.columns.bytes);
    free(parts.values.bytes);
    return code;
}

static int read_npz(const char *path, const uint8_t *data, size_t size, struct tensor *out)
{
    struct archive archive;
    int code = archive_open(path, data, size, &archive);
    if (code != EXIT_DONE)
        return code;
    code = read_matrix(&archive, out);
    archive_close(&archive);
    return code;
}

/* ------------------------------------------------------------------------------------- writing */

static uint64_t column_bits(const struct tensor *csr, int64_t index)
{
    return (uint64_t)csr->indices[index];
}

static uint64_t offset_bits(const struct tensor *csr, int64_t index)
{
    return (uint64_t)csr->indptr[index];
}

static uint64_t value_bits(const struct tensor *csr, int64_t index)
{
    return bits_of_float(csr->values[index]);
}

static uint64_t shape_bits(const struct tensor *csr, int64_t index)
{
    return (uint64_t)(index == 0 ? csr->rows : csr->cols);
}

static uint64_t format_bits(const struct tensor *csr, int64_t index)
{
    (void)csr;
    (void)index;
    return 'c' | 's' << 8 | 'r' << 16; /* b"csr" as one element of three bytes */
}

struct array {
    const char *name;
    const char *descr;
    int item_size;
    int rank;
    int64_t count;
    uint64_t (*bits)(const struct tensor *csr, int64_t index);
};

static int add_array(struct new_archive *archive, const struct array *array,
                     const struct tensor *csr)
{
    uint8_t header[NPY_WRITTEN_HEADER];
    const size_t offset = npy_format_header(header, array->descr, array->rank, &array->count);
    const size_t size = offset + (size_t)array->count * (size_t)array->item_size;
    uint8_t *const bytes = malloc(size);
    if (!bytes)
        return complain(EXIT_WRONG, archive->path, "out of memory");
    memcpy(bytes, header, offset);
    for (int64_t i = 0; i < array->count; i++)
        store_little(bytes + offset + array->item_size * i, array->item_size, array->bits(csr, i));
    return archive_add(archive, array->name, bytes, size);
}

static int write_npz(const char *path, const struct tensor *csr, FILE *stream)
{
    const int64_t count = tensor_count(csr);
    const bool wide = count > INT32_MAX;
    const struct array arrays[] = {
        { "indices.npy", "<i4", 4, 1, count, column_bits },
        { "indptr.npy", wide ? "<i8" : "<i4", wide ? 8 : 4, 1, csr->rows + 1, offset_bits },
        { "format.npy", "|S3", 3, 0, 1, format_bits },
        { "shape.npy", "<i8", 8, 1, 2, shape_bits },
        { "data.npy", "<f4", 4, 1, count, value_bits },
    };
    struct new_archive archive;
    int code = archive_create(path, &archive);
    if (code != EXIT_DONE)
        return code;
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays && code == EXIT_DONE; i++)
        code = add_array(&archive, &arrays[i], csr);
    return archive_finish(&archive, code, stream);
}

const struct format format_npz = {
    .name = "npz",
    .extension = ".npz",
    .stores = TENSOR_CSR,
    .probe = probe_npz,
    .read = read_npz,
    .write = write_npz,
};
