/* numpy's .npy: one array. */
#include "bytes.h"
#include "complain.h"
#include "format.h"
#include "npy_values.h"

#include <inttypes.h>

static int read_npy(const char *path, const uint8_t *data, size_t size, struct tensor *out)
{
    struct npy_header header;
    char shape[TENSOR_SHAPE_TEXT];
    int code = npy_parse_header(path, data, size, &header);
    if (code == EXIT_DONE)
        code = npy_check_floats(path, &header);
    if (code != EXIT_DONE)
        return code;
    if (header.total_size != size)
        return complain(EXIT_BAD, path, "shape %s of '%s' makes %zu bytes, but the file has %zu",
                        tensor_shape_text(header.rank, header.dims, shape), header.descr,
                        header.total_size, size);
    code = tensor_make_dense(path, header.rank, header.dims, out);
    if (code == EXIT_DONE)
        npy_load_floats(&header, data + header.offset, out->values, out);
    return code;
}

static int write_npy(const char *path, const struct tensor *tensor, FILE *stream)
{
    (void)path;
    uint8_t bytes[4096];
    const int64_t count = tensor_count(tensor);
    fwrite(bytes, 1, npy_format_header(bytes, "<f4", tensor->rank, tensor->dims), stream);
    for (int64_t i = 0; i < count;) {
        size_t used = 0;
        for (; i < count && used < sizeof bytes; i++, used += 4)
            store_little(bytes + used, 4, bits_of_float(tensor->values[i]));
        fwrite(bytes, 1, used, stream);
    }
    return EXIT_DONE;
}

const struct format format_npy = {
    .name = "npy",
    .extension = ".npy",
    .stores = TENSOR_DENSE,
    .probe = npy_probe,
    .read = read_npy,
    .write = write_npy,
};
