/*
 * Reads a file and shows it as text, or writes it again in the format of a second name:
 *     format_dump FILE [OUTPUT]
 */
#include "complain.h"
#include "format.h"
#include "output.h"

#include <inttypes.h>

static void show(const struct tensor *tensor)
{
    char shape[TENSOR_SHAPE_TEXT];
    const int64_t sizes[] = { tensor->rows, tensor->cols };
    const bool dense = tensor->kind == TENSOR_DENSE;
    printf("%s %s\nnote %s\n", dense ? "dense" : "csr",
           tensor_shape_text(dense ? tensor->rank : 2, dense ? tensor->dims : sizes, shape),
           tensor->note);
    for (int64_t row = 0; !dense && row <= tensor->rows; row++)
        printf("%" PRId64 " ", tensor->indptr[row]);
    printf("\n");
    for (int64_t i = 0; !dense && i < tensor_count(tensor); i++)
        printf("%" PRId32 " ", tensor->indices[i]);
    printf("\n");
    for (int64_t i = 0; tensor->values && i < tensor_count(tensor); i++)
        printf("%.9g ", (double)tensor->values[i]);
    printf("\n");
}

static int rewrite(const struct tensor *tensor, const char *path)
{
    const struct format *format;
    struct output *output;
    int code = format_for_output(path, &format);
    if (code == EXIT_DONE)
        code = output_open(path, &output);
    if (code != EXIT_DONE)
        return code;
    code = format_write(format, path, tensor, output_stream(output));
    if (code == EXIT_DONE)
        return output_commit(&output);
    output_abandon(&output);
    return code;
}

int main(int argc, char **argv)
{
    struct tensor tensor;
    if (argc != 2 && argc != 3) {
        fprintf(stderr, "usage: format_dump FILE [OUTPUT]\n");
        return EXIT_BAD;
    }
    int code = format_read(argv[1], &tensor);
    if (code == EXIT_DONE && argc == 3)
        code = rewrite(&tensor, argv[2]);
    else if (code == EXIT_DONE)
        show(&tensor);
    tensor_free(&tensor);
    if (code != EXIT_DONE)
        fprintf(stderr, "format_dump: %s\n", complaint());
    return code;
}
