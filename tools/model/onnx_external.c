/*
 * Data that an ONNX file keeps in other files: only of its own folder or below, and through no link
 * that could lead out of it, since the file that names them may be anybody's.
 */
#include "onnx.h"

#include "complain.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct place {
    const char *location; /* the file, from the model's folder */
    uint64_t offset, length;
    bool has_length;
};

static bool parse_number(const char *text, uint64_t *out)
{
    char *end;
    errno = 0;
    *out = strtoull(text, &end, 10);
    return text[0] >= '0' && text[0] <= '9' && *end == '\0' && errno == 0;
}

/* One key and its value, of a StringStringEntryProto. */
static int read_entry(const struct onnx_reader *reader, struct model_span span, struct place *out)
{
    enum { KEY = 1, VALUE = 2 };
    const char *key = "", *value = "";
    struct wire_field field;
    struct wire entry;
    const int code = onnx_message(reader, span, "external data", &entry);
    if (code)
        return code;
    while (wire_next(&entry, &field))
        if (field.type == WIRE_BYTES && (field.number == KEY || field.number == VALUE)) {
            const char *const text = onnx_text(reader, field.bytes);
            if (!text)
                return EXIT_WRONG;
            *(field.number == KEY ? &key : &value) = text;
        }
    if (strcmp(key, "location") == 0)
        out->location = value;
    else if (strcmp(key, "offset") == 0 && !parse_number(value, &out->offset))
        return complain(EXIT_BAD, reader->model->path, "external data has the offset %s", value);
    else if (strcmp(key, "length") == 0 && !(out->has_length = parse_number(value, &out->length)))
        return complain(EXIT_BAD, reader->model->path, "external data has the length %s", value);
    return EXIT_DONE;
}

static bool leads_out(const char *location)
{
    for (const char *at = location; at; at = strchr(at, '/')) {
        at += *at == '/';
        if (strncmp(at, "..", 2) == 0 && (at[2] == '/' || at[2] == '\0'))
            return true;
    }
    return location[0] == '/' || location[0] == '\0';
}

/* The descriptor of the folder that the model is in. */
static int open_folder(const char *path)
{
    const char *const slash = strrchr(path, '/');
    char *const folder = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
    const int descriptor = folder ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    free(folder);
    return descriptor;
}

/* Opens name by name, following no link, so that nothing can be exchanged in between either. */
static int open_below(int folder, const char *location)
{
    char name[256];
    while (folder >= 0) {
        const size_t length = strcspn(location, "/");
        const bool is_last = location[length] == '\0';
        if (length >= sizeof name) {
            close(folder);
            errno = ENAMETOOLONG;
            return -1;
        }
        memcpy(name, location, length);
        name[length] = '\0';
        const int next =
            openat(folder, length ? name : ".",
                   O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | (is_last ? 0 : O_DIRECTORY));
        close(folder);
        if (is_last)
            return next;
        folder = next;
        location += length + 1;
    }
    return -1;
}

static int refuse(const struct onnx_reader *reader, const char *location, const char *why)
{
    return complain(EXIT_BAD, reader->model->path, "its external data in %s cannot be read: %s",
                    location, why);
}

static int load(struct onnx_reader *reader, const char *location, int descriptor,
                const struct stat *status, struct onnx_external **out)
{
    struct arena *const arena = &reader->model->arena;
    const size_t size = (size_t)status->st_size;
    struct onnx_external *const external = arena_take(arena, 1, sizeof *external);
    uint8_t *const data = arena_take(arena, size, 1);
    size_t got = 0;
    if (!external || !data)
        return onnx_no_memory(reader);
    while (got < size) {
        const ssize_t part = read(descriptor, data + got, size - got);
        if (part == 0 || (part < 0 && errno != EINTR))
            return refuse(reader, location, part ? strerror(errno) : "it became shorter");
        got += part > 0 ? (size_t)part : 0;
    }
    *external = (struct onnx_external){ reader->externals, (uint64_t)status->st_dev,
                                        (uint64_t)status->st_ino, data, size };
    reader->externals = *out = external;
    reader->model->other_size += size;
    return EXIT_DONE;
}

/* A file is read once, however many tensors and names lead to it. */
static int find(struct onnx_reader *reader, const char *location, struct onnx_external **out)
{
    struct stat status;
    if (leads_out(location))
        return refuse(reader, location, "that is outside of the model's folder");
    const int descriptor = open_below(open_folder(reader->model->path), location);
    if (descriptor < 0)
        return refuse(reader, location,
                      errno == ELOOP ? "a symbolic link may lead out of the model's folder"
                                     : strerror(errno));
    int code = EXIT_DONE;
    if (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) {
        code = refuse(reader, location, "it is no regular file");
    } else if (status.st_size / (int64_t)sizeof(float) >= tensor_memory()) {
        code = refuse(reader, location, "it is larger than the memory");
    } else {
        *out = reader->externals;
        while (*out && ((*out)->device != (uint64_t)status.st_dev ||
                        (*out)->inode != (uint64_t)status.st_ino))
            *out = (*out)->next;
        if (!*out)
            code = load(reader, location, descriptor, &status, out);
    }
    close(descriptor);
    return code;
}

int onnx_external_data(struct onnx_reader *reader, struct wire tensor, const char *name,
                       const uint8_t **data, size_t *size)
{
    struct place place = { .location = "" };
    struct onnx_external *external;
    struct wire_field field;
    int code = EXIT_DONE;
    while (!code && wire_find(&tensor, ONNX_EXTERNAL_DATA, WIRE_BYTES, &field))
        code = read_entry(reader, field.bytes, &place);
    if (!code)
        code = find(reader, place.location, &external);
    if (code)
        return code;
    if (place.offset > external->size ||
        (place.has_length && place.length > external->size - place.offset))
        return complain(EXIT_BAD, reader->model->path,
                        "tensor %s: its external data goes beyond the end of %s", name,
                        place.location);
    *data = external->data + place.offset;
    *size = place.has_length ? (size_t)place.length : external->size - (size_t)place.offset;
    return EXIT_DONE;
}
