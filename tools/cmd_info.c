/* csrconv info: what is in a file, and what is in this build. */
#include "command.h"
#include "complain.h"
#include "csrconv.h"
#include "format/format.h"
#include "options.h"
#include "runner/place.h"
#include "selection.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: csrconv info FILE | --algos | --devices | --version\n"
    "\n"
    "  FILE         shape, sparsity and nonzeros per filter of a weight file\n"
    "  --algos      the algorithms and peers of this build\n"
    "  --devices    the devices that plans can be made for here, or why not\n"
    "  --version    of the library\n"
    "\n"
    "examples:\n"
    "  csrconv info conv3.npz\n"
    "  csrconv info --algos\n";

struct info_options {
    int algos, devices, version;
    struct text_list files;
};

static int parse(int argc, char **argv, struct info_options *o)
{
    const struct option_spec specs[] = {
        { .name = "algos", .kind = OPTION_FLAG, .value = &o->algos },
        { .name = "devices", .kind = OPTION_FLAG, .value = &o->devices },
        { .name = "version", .kind = OPTION_FLAG, .value = &o->version },
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

static int ascending(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static int show_rows(const char *path, const struct tensor *csr)
{
    int64_t *rows = malloc(((size_t)csr->rows + 1) * sizeof *rows);
    int64_t empty = 0;
    if (!rows)
        return complain(EXIT_WRONG, path, "no room for %" PRId64 " row counts", csr->rows);
    for (int64_t m = 0; m < csr->rows; m++) {
        rows[m] = csr->indptr[m + 1] - csr->indptr[m];
        empty += rows[m] == 0;
    }
    qsort(rows, (size_t)csr->rows, sizeof *rows, ascending);
    if (csr->rows)
        printf("nonzeros a filter: %" PRId64 " / %" PRId64 " / %" PRId64
               " (least / median / most), %" PRId64 " of %" PRId64 " filters empty\n",
               rows[0], rows[csr->rows / 2], rows[csr->rows - 1], empty, csr->rows);
    free(rows);
    return EXIT_DONE;
}

static int show_matrix(const char *path, const struct tensor *csr)
{
    const int64_t nonzeros = csr->indptr[csr->rows];
    const double size = (double)csr->rows * (double)csr->cols;
    printf("matrix %" PRId64 " x %" PRId64 ", %" PRId64 " nonzeros%s, sparsity %.4f\n", csr->rows,
           csr->cols, nonzeros, csr->values ? "" : " (a pattern without values)",
           size > 0.0 ? 1.0 - (double)nonzeros / size : 0.0);
    if (nonzeros)
        printf("a sparse convolution needs 1/%.3g of the multiply-adds of the dense one; \"csrconv "
               "bench --weights\" measures what that gains here\n",
               size / (double)nonzeros);
    return show_rows(path, csr);
}

static int show_file(const char *path)
{
    struct tensor read, csr = { 0 };
    char shape[TENSOR_SHAPE_TEXT];
    int code = format_read(path, &read);
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
        code = show_file(options.files.items[0]);
    text_list_free(&options.files);
    return code;
}

const struct command command_info = {
    .name = "info",
    .summary = "describe a weight file, the algorithms or the devices",
    .help = help,
    .run = run,
};
