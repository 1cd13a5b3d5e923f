/* csrconv info: what is in a file, and what is in this build. */
#include "command.h"
#include "complain.h"
#include "csrconv.h"
#include "filter_statistics.h"
#include "format/format.h"
#include "info_model.h"
#include "options.h"
#include "runner/place.h"
#include "selection.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char help[] =
    "usage: csrconv info FILE [--input-shape SHAPE] | --algos | --devices | --version\n"
    "\n"
    "  FILE         shape, sparsity and nonzeros per filter of a weight file; of a model file "
    "(ONNX,\n"
    "               safetensors) what is in it, and its convolutions with their geometry\n"
    "  --input-shape N,C,H,W | NAME:N,C,H,W[;...]   of an ONNX model that does not tell it\n"
    "  --algos      the algorithms and peers of this build\n"
    "  --devices    the devices that plans can be made for here, or why not\n"
    "  --version    of the library\n"
    "\n"
    "examples:\n"
    "  csrconv info conv3.npz\n"
    "  csrconv info resnet18.onnx --input-shape 1,3,224,224\n"
    "  csrconv info --algos\n";

struct info_options {
    int algos, devices, version;
    const char *input_shape;
    struct text_list files;
};

static int parse(int argc, char **argv, struct info_options *o)
{
    const struct option_spec specs[] = {
        { .name = "algos", .kind = OPTION_FLAG, .value = &o->algos },
        { .name = "devices", .kind = OPTION_FLAG, .value = &o->devices },
        { .name = "version", .kind = OPTION_FLAG, .value = &o->version },
        { .name = "input-shape", .kind = OPTION_TEXT, .value = &o->input_shape },
        { 0 },
    };
    const int code = options_parse(&command_info, specs, argc, argv, &o->files);
    const size_t asked = (size_t)(o->algos + o->devices + o->version) + o->files.count;
    if (code || asked == 1)
        return code;
    return complain(EXIT_BAD, "info", "takes one of FILE, --algos, --devices, --version");
}

static void show_algorithms(void)
{
    const int count = selection_count();
    for (int i = 0; i < count; i++) {
        const csrconv_algorithm_info a = selection_info(i);
        printf("%-18s %-5s %-6s %-5s %s\n", a.name, selection_device_kind(a.device),
               a.is_peer ? "peer" : "own", a.math, a.summary);
        if (a.limits)
            printf("%-18s       does not keep: %s\n", "", a.limits);
    }
}

static void show_device(const struct place *place, const char *name, int ordinal)
{
    struct place_device device = { .clock_mhz = 0 };
    const csrconv_status status = csrconv_device_usable(place->device, ordinal);
    place->describe(ordinal, &device);
    printf("%-7s %s%s%s%s%s%s", name, status ? "not usable: " : "usable: ", device.name,
           *device.detail ? ", " : "", device.detail, *device.driver ? ", driver " : "",
           device.driver);
    printf("%s%s\n", status ? ": " : "", status ? csrconv_last_error() : "");
}

static void show_devices(void)
{
    const struct place *cuda = place_of(CSRCONV_DEVICE_CUDA);
    const int gpus = cuda ? cuda->count() : 0;
    show_device(&place_cpu, "cpu", 0);
    for (int ordinal = 0; ordinal < gpus; ordinal++) {
        char name[16];
        snprintf(name, sizeof name, "cuda:%d", ordinal);
        show_device(cuda, name, ordinal);
    }
    if (!gpus && csrconv_device_usable(CSRCONV_DEVICE_CUDA, 0))
        printf("cuda:0  not usable: %s\n", csrconv_last_error());
}

static int show_matrix(const char *path, const struct tensor *csr)
{
    struct filter_statistics s;
    const int code = filter_statistics_csr(path, csr->indptr, csr->rows, csr->cols, &s);
    if (code)
        return code;
    printf("matrix %" PRId64 " x %" PRId64 ", %" PRId64 " nonzeros%s, sparsity %.4f\n", csr->rows,
           csr->cols, s.nonzeros, csr->values ? "" : " (a pattern without values)",
           filter_sparsity(&s));
    if (s.nonzeros)
        printf("a sparse convolution needs 1/%.3g of the multiply-adds of the dense one; \"csrconv "
               "bench --weights\" measures what that gains here\n",
               (double)s.weights / (double)s.nonzeros);
    if (s.filters)
        printf("nonzeros a filter: %" PRId64 " / %" PRId64 " / %" PRId64
               " (least / median / most), %" PRId64 " of %" PRId64 " filters empty\n",
               s.least, s.median, s.most, s.empty, s.filters);
    return EXIT_DONE;
}

static int show_weights(const char *path, struct file *file)
{
    struct tensor read, csr = { 0 };
    char shape[TENSOR_SHAPE_TEXT];
    int code = format_read_begun(path, file, &read);
    if (code)
        return code;
    printf("%s", path);
    if (read.kind == TENSOR_DENSE)
        printf(": array %s", tensor_shape_text(read.rank, read.dims, shape));
    printf("%s%s\n", read.note[0] ? ": " : "", read.note);
    if (read.kind == TENSOR_CSR)
        code = show_matrix(path, &read);
    else if (read.rank == 0)
        code = complain(EXIT_BAD, path, "holds a single number, not weights");
    else if (!(code = tensor_to_csr(path, &read, &csr)))
        code = show_matrix(path, &csr);
    tensor_free(&csr);
    tensor_free(&read);
    return code;
}

static int show_file(const char *path, const char *input_shape)
{
    struct model model;
    struct file file;
    int code = file_begin(path, &file);
    if (code) {
        file_free(&file);
        return code;
    }
    if (!model_format_of(file.data, file.size)) {
        code = input_shape ? complain(EXIT_BAD, "--input-shape", "goes with a model file")
                           : show_weights(path, &file);
    } else if (!(code = model_read_begun(path, &file, &model))) {
        code = info_model(&model, input_shape);
        model_free(&model);
    }
    file_free(&file);
    return code;
}

static int run(int argc, char **argv)
{
    struct info_options options = { 0 };
    int code = parse(argc, argv, &options);
    if (!code && options.algos)
        show_algorithms();
    if (!code && options.devices)
        show_devices();
    if (!code && options.version)
        printf("csrconv %s\n", csrconv_version_string());
    if (!code && options.files.count)
        code = show_file(options.files.items[0], options.input_shape);
    text_list_free(&options.files);
    return code;
}

const struct command command_info = {
    .name = "info",
    .summary = "describe a weight file, the algorithms or the devices",
    .help = help,
    .run = run,
};
