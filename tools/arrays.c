#include "arrays.h"

#include "complain.h"
#include "format/format.h"
#include "output.h"

int array_read(const char *path, struct tensor *out)
{
    const int code = format_read(path, out);
    if (!code && out->kind != TENSOR_DENSE) {
        tensor_free(out);
        return complain(EXIT_BAD, path, "holds a sparse matrix, not an array");
    }
    if (!code && out->note[0])
        fprintf(stderr, "%s: %s\n", path, out->note);
    return code;
}

int array_write(const char *path, const struct tensor *tensor)
{
    struct output *output;
    int code = output_open(path, &output);
    if (code)
        return code;
    code = format_write(format_named("npy"), path, tensor, output_stream(output));
    if (code) {
        output_abandon(&output);
        return code;
    }
    return output_commit(&output);
}
