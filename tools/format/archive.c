#include "archive.h"

#include "complain.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/*
 * Deflate reaches 1:1032, so a small file can claim gigabytes. Real matrices stay far below 1:100;
 * small ones of equal weights, which do not, are within the bytes that any file may have.
 */
enum { MOST_RATIO = 100, ALWAYS_ALLOWED = 1 << 24 };

int archive_open(const char *path, const uint8_t *data, size_t size, struct archive *out)
{
    zip_error_t error;
    zip_error_init(&error);
    zip_source_t *const source = zip_source_buffer_create(data, size, 0, &error);
    zip_t *const zip = source ? zip_open_from_source(source, ZIP_RDONLY, &error) : NULL;
    int code = EXIT_DONE;
    if (!zip) {
        code = complain(EXIT_BAD, path, "not a whole zip archive: %s", zip_error_strerror(&error));
        zip_source_free(source);
    }
    zip_error_fini(&error);
    *out = (struct archive){ path, zip, ALWAYS_ALLOWED + (uint64_t)size * MOST_RATIO };
    return code;
}

void archive_close(struct archive *archive)
{
    zip_discard(archive->zip);
}

bool archive_has(const struct archive *archive, const char *name)
{
    return zip_name_locate(archive->zip, name, 0) >= 0;
}

const char *archive_list(const struct archive *archive, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (zip_int64_t i = 0; i < zip_get_num_entries(archive->zip, 0) && used < size; i++) {
        const char *const name = zip_get_name(archive->zip, (zip_uint64_t)i, 0);
        used += (size_t)snprintf(text + used, size - used, "%s%s", i > 0 ? ", " : "",
                                 name ? name : "?");
    }
    if (used >= size)
        memcpy(text + size - 4, "...", 4);
    return text;
}

/* Appends until `size` bytes are there; room grows with what was inflated, not with what is said.
 */
static int inflate_to(const char *where, zip_file_t *file, uint64_t size, uint64_t *have,
                      uint8_t **bytes)
{
    for (uint64_t step = 1 << 17; *have < size; step *= 2) {
        const uint64_t wanted = size - *have < step ? size - *have : step;
        uint8_t *const more = realloc(*bytes, *have + wanted);
        if (!more)
            return complain(EXIT_WRONG, where, "out of memory");
        *bytes = more;
        const zip_int64_t got = zip_fread(file, more + *have, wanted);
        if (got < 0 || (zip_uint64_t)got != wanted)
            return complain(EXIT_BAD, where, "damaged: %s",
                            got < 0 ? zip_file_strerror(file) : "it ends early");
        *have += wanted;
    }
    return EXIT_DONE;
}

/* Compares the size in the archive's directory with the header's before it inflates the rest. */
static int read_array(struct member *out, zip_file_t *file, uint64_t size)
{
    const uint64_t first = size < NPY_MAX_HEADER ? size : NPY_MAX_HEADER;
    uint64_t have = 0;
    uint8_t end;
    int code = inflate_to(out->where, file, first, &have, &out->bytes);
    if (code == EXIT_DONE)
        code = npy_parse_header(out->where, out->bytes, have, &out->header);
    if (code == EXIT_DONE && out->header.total_size != size)
        code = complain(EXIT_BAD, out->where, "its header makes %zu bytes, but it has %" PRIu64,
                        out->header.total_size, size);
    if (code == EXIT_DONE)
        code = inflate_to(out->where, file, size, &have, &out->bytes);
    if (code == EXIT_DONE && zip_fread(file, &end, 1) != 0) /* the checksum is compared here */
        code = complain(EXIT_BAD, out->where, "damaged: its checksum or size is wrong");
    return code;
}

static int check_member(struct archive *archive, const char *where, const struct zip_stat *status)
{
    if (status->encryption_method != ZIP_EM_NONE)
        return complain(EXIT_BAD, where, "is encrypted");
    if (status->comp_method != ZIP_CM_STORE && status->comp_method != ZIP_CM_DEFLATE)
        return complain(EXIT_BAD, where, "compression method %d; stored or deflated is read",
                        status->comp_method);
    if (status->size > archive->budget)
        return complain(EXIT_BAD, where,
                        "claims %" PRIu64 " bytes, too many for an archive of this size",
                        status->size);
    archive->budget -= status->size;
    return EXIT_DONE;
}

int archive_read(struct archive *archive, const char *name, struct member *out)
{
    struct zip_stat status;
    *out = (struct member){ .bytes = NULL };
    snprintf(out->where, sizeof out->where, "%s: %s", archive->path, name);
    if (zip_stat(archive->zip, name, 0, &status) != 0)
        return complain(EXIT_BAD, archive->path, "lacks the member '%s'", name);
    int code = check_member(archive, out->where, &status);
    if (code != EXIT_DONE)
        return code;
    zip_file_t *const file = zip_fopen_index(archive->zip, status.index, 0);
    if (!file)
        return complain(EXIT_BAD, out->where, "damaged: %s", zip_strerror(archive->zip));
    code = read_array(out, file, status.size);
    zip_fclose(file);
    if (code != EXIT_DONE) {
        free(out->bytes);
        out->bytes = NULL;
    }
    return code;
}

static int not_made(const char *path, const char *why)
{
    return complain(EXIT_WRONG, path, "the zip archive could not be made: %s", why);
}

int archive_create(const char *path, struct new_archive *out)
{
    zip_error_t error;
    zip_error_init(&error);
    zip_source_t *const memory = zip_source_buffer_create(NULL, 0, 0, &error);
    zip_t *const zip = memory ? zip_open_from_source(memory, ZIP_TRUNCATE, &error) : NULL;
    int code = EXIT_DONE;
    if (zip) {
        zip_source_keep(memory); /* what is written stays in it when the archive is closed */
    } else {
        code = not_made(path, zip_error_strerror(&error));
        zip_source_free(memory);
    }
    zip_error_fini(&error);
    *out = (struct new_archive){ path, memory, zip };
    return code;
}

int archive_add(struct new_archive *archive, const char *name, uint8_t *bytes, size_t size)
{
    enum {
        FIRST_DAY = 1 << 5 | 1, /* 1980-01-01, where the time of zip starts */
        LEVEL = 1               /* of deflate: weights hardly shrink, whatever it costs */
    };
    zip_source_t *const source = zip_source_buffer(archive->zip, bytes, size, 1);
    if (!source) {
        free(bytes);
        return not_made(archive->path, zip_strerror(archive->zip));
    }
    const zip_int64_t index = zip_file_add(archive->zip, name, source, 0);
    if (index < 0) {
        zip_source_free(source);
        return not_made(archive->path, zip_strerror(archive->zip));
    }
    if (zip_file_set_dostime(archive->zip, (zip_uint64_t)index, 0, FIRST_DAY, 0) != 0 ||
        zip_set_file_compression(archive->zip, (zip_uint64_t)index, ZIP_CM_DEFLATE, LEVEL) != 0)
        return not_made(archive->path, zip_strerror(archive->zip));
    return EXIT_DONE;
}

static int copy_out(const struct new_archive *archive, FILE *stream)
{
    uint8_t bytes[1 << 14];
    zip_int64_t got = -1;
    if (zip_source_open(archive->memory) == 0) {
        while ((got = zip_source_read(archive->memory, bytes, sizeof bytes)) > 0)
            fwrite(bytes, 1, (size_t)got, stream);
        zip_source_close(archive->memory);
    }
    if (got == 0)
        return EXIT_DONE;
    return not_made(archive->path, zip_error_strerror(zip_source_error(archive->memory)));
}

int archive_finish(struct new_archive *archive, int code, FILE *stream)
{
    if (code == EXIT_DONE && zip_close(archive->zip) == 0) {
        code = copy_out(archive, stream);
    } else {
        if (code == EXIT_DONE)
            code = not_made(archive->path, zip_strerror(archive->zip));
        zip_discard(archive->zip);
    }
    zip_source_free(archive->memory);
    return code;
}
