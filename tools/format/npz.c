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

/* The format's name: an array of no dimensions, of bytes or, in old files, of unicode. */
static int check_format(struct archive *archive)
{
    struct member member;
    char name[16] = "";
    int code = archive_read(archive, "format.npy", &member);
    if (code != EXIT_DONE)
        return code;
    const struct npy_header *const header = &member.header;
    const int width = header->kind == 'U' ? 4 : 1;
    const int length = header->item_size / width;
    if ((header->kind != 'S' && header->kind != 'U') || header->count != 1) {
        code = complain(EXIT_BAD, member.where, "its dtype is '%s', not a string", header->descr);
    } else {
        for (int i = 0; i < length && i < (int)sizeof name - 1; i++)
            name[i] = (char)load_bytes(member.bytes + header->offset + width * i, width,
                                       header->big_endian);
        if (strcmp(name, "csr") != 0)
            code = complain(EXIT_BAD, archive->path,
                            "holds a scipy.sparse matrix in '%s'; only 'csr' is read", name);
    }
    free(member.bytes);
    return code;
}

static int read_integers(struct archive *archive, const char *name, struct member *out)
{
    int code = archive_read(archive, name, out);
    if (code == EXIT_DONE)
        code = npy_check_integers(out->where, &out->header);
    return code;
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

static int read_offsets(struct archive *archive, struct tensor *out)
{
    struct member member;
    int code = read_integers(archive, "indptr.npy", &member);
    if (code == EXIT_DONE && member.header.count != out->rows + 1)
        code = complain(EXIT_BAD, member.where,
                        "%" PRId64 " row offsets; %" PRId64 " rows have one more than that",
                        member.header.count, out->rows);
    if (code == EXIT_DONE) {
        out->indptr = malloc((size_t)member.header.count * sizeof *out->indptr);
        if (!out->indptr)
            code = complain(EXIT_WRONG, member.where, "out of memory");
    }
    for (int64_t i = 0; i <= out->rows && code == EXIT_DONE; i++)
        out->indptr[i] = integer_at(&member, i);
    free(member.bytes);
    return code;
}

static int load_columns(const struct member *member, struct tensor *out)
{
    out->indices = malloc((size_t)member->header.count * sizeof *out->indices + 1);
    if (!out->indices)
        return complain(EXIT_WRONG, member->where, "out of memory");
    for (int64_t i = 0; i < member->header.count; i++) {
        const int64_t column = integer_at(member, i);
        if (column < 0 || column >= out->cols)
            return complain(EXIT_BAD, member->where,
                            "entry %" PRId64 " is column %" PRId64 ", but there are %" PRId64, i,
                            column, out->cols);
        out->indices[i] = (int32_t)column;
    }
    return EXIT_DONE;
}

static int read_columns(struct archive *archive, struct tensor *out, int64_t *count)
{
    struct member member;
    int code = read_integers(archive, "indices.npy", &member);
    if (code == EXIT_DONE)
        code = load_columns(&member, out);
    *count = member.header.count;
    free(member.bytes);
    return code;
}

static int load_values(const struct member *member, struct tensor *out)
{
    out->values = malloc((size_t)member->header.count * sizeof *out->values + 1);
    if (!out->values)
        return complain(EXIT_WRONG, member->where, "out of memory");
    npy_load_floats(&member->header, member->bytes + member->header.offset, out->values, out);
    return EXIT_DONE;
}

static int read_values(struct archive *archive, struct tensor *out, int64_t count)
{
    struct member member;
    int code = archive_read(archive, "data.npy", &member);
    if (code == EXIT_DONE)
        code = npy_check_floats(member.where, &member.header);
    if (code == EXIT_DONE && (member.header.rank != 1 || member.header.count != count))
        code = complain(EXIT_BAD, member.where,
                        "%" PRId64 " values in %d dimensions for %" PRId64 " columns in 1",
                        member.header.count, member.header.rank, count);
    if (code == EXIT_DONE)
        code = load_values(&member, out);
    free(member.bytes);
    return code;
}

static int read_matrix(struct archive *archive, struct tensor *out)
{
    char list[300];
    int64_t shape[2], count;
    if (!archive_has(archive, "format.npy"))
        return complain(EXIT_BAD, archive->path,
                        "holds no matrix of scipy.sparse (no format.npy); it has: %s",
                        archive_list(archive, list, sizeof list));
    int code = check_format(archive);
    if (code == EXIT_DONE)
        code = read_shape(archive, shape);
    if (code != EXIT_DONE)
        return code;
    *out = (struct tensor){ .kind = TENSOR_CSR, .rows = shape[0], .cols = shape[1] };
    code = read_offsets(archive, out);
    if (code == EXIT_DONE)
        code = read_columns(archive, out, &count);
    if (code == EXIT_DONE)
        code = read_values(archive, out, count);
    if (code == EXIT_DONE)
        code = tensor_check_csr(archive->path, out, count);
    if (code != EXIT_DONE)
        tensor_free(out);
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
