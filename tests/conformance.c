/*
 * Cases that others publish: the Conv cases of ONNX with their expected outputs, and the shapes of
 * benchdnn's 2-D problems, run by every algorithm of a device or by those that are named.
 *
 * usage: conformance DATA_FOLDER [cpu|cuda[:N] [ALGORITHM ...]]
 *
 * The shapes are scaled to fit: one image; while a problem has more than MOST_PRODUCTS
 * multiply-adds, the larger of channels and filters per group is halved (rounded up, so that odd
 * tails stay odd), then the number of groups, then the image is cropped. Kernels, strides,
 * dilations and paddings stay as they are.
 */
#include "complain.h"
#include "csv_reader.h"
#include "format/format.h"
#include "problem/text_file.h"
#include "runner/check.h"
#include "runner/trial.h"
#include "selection.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SKIPPED = 77 };
static const double most_products = 4e6;

struct run {
    const char *folder;
    int *wanted;
    csrconv_device device;
    int ordinal;
    struct check_count count;
};

/* --- a table of the folder, row by row --- */

typedef int (*row_task)(struct run *run, const struct csv *csv);

static int each_row(struct run *run, const char *name, row_task task)
{
    char path[PATH_MAX];
    struct csv csv = { 0 };
    char *text;
    size_t size;
    bool more = true;
    int code;
    snprintf(path, sizeof path, "%s/%s", run->folder, name);
    if ((code = text_file_read(path, &text, &size)))
        return code;
    code = csv_open(&csv, path, text, size);
    while (!code && !(code = csv_next_row(&csv, &more)) && more)
        code = task(run, &csv);
    csv_close(&csv);
    free(text);
    return code;
}

/* Columns of whole numbers, by name, into the members of a geometry. */
struct member {
    const char *column;
    int64_t *value;
};

static int read_members(const struct csv *csv, const struct member *members, int count)
{
    for (int i = 0; i < count; i++) {
        int column;
        if (csv_need_column(csv, members[i].column, &column) ||
            csv_integer(csv, column, 0, members[i].value))
            return EXIT_BAD;
    }
    return EXIT_DONE;
}

static const char *cell(const struct csv *csv, const char *name)
{
    return csv_cell(csv, csv_column(csv, name));
}

/* --- ONNX: x, w and y are given --- */

static int read_onnx_geometry(const struct csv *csv, csrconv_geometry *g)
{
    const struct member members[] = {
        { "group", &g->groups },      { "n", &g->batch },         { "c", &g->channels },
        { "h", &g->height },          { "w", &g->width },         { "w0", &g->filters },
        { "kh", &g->kernel_h },       { "kw", &g->kernel_w },     { "stride_h", &g->stride_h },
        { "stride_w", &g->stride_w }, { "pad_t", &g->pad_top },   { "pad_l", &g->pad_left },
        { "pad_b", &g->pad_bottom },  { "pad_r", &g->pad_right }, { "dil_h", &g->dilation_h },
        { "dil_w", &g->dilation_w },
    };
    csrconv_geometry_init(g);
    return read_members(csv, members, (int)(sizeof members / sizeof *members));
}

static int read_tensor(const struct run *run, const struct csv *csv, const char *name,
                       struct tensor *out)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/onnx/%s/%s.npy", run->folder, cell(csv, "case"), name);
    return format_read(path, out);
}

/* The oracle itself must give what ONNX says. */
static int compare_oracle(const struct csv *csv, const struct workload *w,
                          const struct reference *reference, const struct tensor *y)
{
    const int64_t count = w->geometry.filters * w->out_h * w->out_w * w->geometry.batch;
    if (tensor_count(y) != count)
        return complain(EXIT_WRONG, cell(csv, "case"), "y has %" PRId64 " elements, not %" PRId64,
                        tensor_count(y), count);
    for (int64_t i = 0; i < count; i++) {
        const double bound = 4.0 * (double)(w->nonzeros + 2) * 0x1p-24 * reference->magnitude[i];
        if (!(fabs((double)y->values[i] - reference->want[i]) <= bound))
            return complain(EXIT_WRONG, cell(csv, "case"),
                            "the oracle gives %.9g, y[%" PRId64 "] is %.9g", reference->want[i], i,
                            (double)y->values[i]);
    }
    return EXIT_DONE;
}

static void try_algorithms(struct run *run, const char *name, struct stage *stage,
                           const struct reference *reference)
{
    for (int i = 0; i < selection_count(); i++) {
        struct trial trial;
        if (selection_info(i).device != run->device)
            continue;
        trial_make(stage, selection_algorithm(i), 0, &trial);
        trial_verify(&trial, reference, stage->workload->geometry.batch);
        run->count.passed += trial.status == TRIAL_PASSED;
        run->count.failed += trial.status == TRIAL_FAILED;
        run->count.skipped += trial.status == TRIAL_REFUSED;
        if (trial.status != TRIAL_PASSED)
            printf("%s %s, %s: %s\n", trial.status == TRIAL_FAILED ? "FAILED" : "skipped",
                   trial.algorithm.name, name, trial.reason);
        trial_free(&trial);
    }
}

static int run_onnx(struct run *run, const struct csv *csv, const csrconv_geometry *g,
                    const struct tensor tensors[3])
{
    const struct workload_options options = { .weights = tensors[1].values, .pattern = "onnx" };
    struct workload workload;
    struct reference reference = { 0 };
    struct stage stage = { 0 };
    int code = workload_make(g, &options, &workload);
    if (!code) {
        memcpy(guarded_image(&workload.in, 0), tensors[0].values,
               (size_t)tensor_count(&tensors[0]) * sizeof(float));
        code = reference_make(&workload, 1, &reference);
    }
    if (!code)
        code = compare_oracle(csv, &workload, &reference, &tensors[2]);
    if (!code)
        code = stage_make(&workload, run->device, run->ordinal, &stage);
    if (!code)
        try_algorithms(run, cell(csv, "case"), &stage, &reference);
    stage_free(&stage);
    reference_free(&reference);
    workload_free(&workload);
    return code;
}

static int onnx_case(struct run *run, const struct csv *csv)
{
    struct tensor tensors[3] = { 0 };
    csrconv_geometry g;
    int code = read_onnx_geometry(csv, &g);
    if (!code && strcmp(cell(csv, "bias"), "False") != 0)
        code = complain(EXIT_BAD, cell(csv, "case"), "has a bias, which is not read here");
    if (!code)
        code = read_tensor(run, csv, "x", &tensors[0]);
    if (!code)
        code = read_tensor(run, csv, "w", &tensors[1]);
    if (!code)
        code = read_tensor(run, csv, "y", &tensors[2]);
    if (!code)
        code = run_onnx(run, csv, &g, tensors);
    for (int i = 0; i < 3; i++)
        tensor_free(&tensors[i]);
    return code;
}

/* --- benchdnn: shapes --- */

static double products(const csrconv_geometry *g)
{
    int64_t out_h, out_w;
    if (csrconv_output_size(g, &out_h, &out_w))
        return 0.0;
    return (double)out_h * (double)out_w * (double)g->filters *
           (double)(g->channels / g->groups * g->kernel_h * g->kernel_w);
}

/* Half of an extent, but not less than the kernel needs without padding. */
static int64_t cropped(int64_t size, int64_t kernel, int64_t dilation)
{
    const int64_t least = (kernel - 1) * dilation + 1, half = (size + 1) / 2;
    return half > least ? half : least < size ? least : size;
}

static void scale(csrconv_geometry *g)
{
    int64_t channels = g->channels / g->groups, filters = g->filters / g->groups;
    int64_t last = INT64_MAX;
    while (products(g) > most_products) {
        const int64_t size = g->channels * g->filters * g->height * g->width;
        if (size >= last)
            return; /* the kernel alone is that large */
        last = size;
        if (channels > filters && channels > 4)
            channels = (channels + 1) / 2;
        else if (filters > 4)
            filters = (filters + 1) / 2;
        else if (g->groups > 3)
            g->groups = (g->groups + 1) / 2;
        else {
            g->height = cropped(g->height, g->kernel_h, g->dilation_h);
            g->width = cropped(g->width, g->kernel_w, g->dilation_w);
        }
        g->channels = channels * g->groups;
        g->filters = filters * g->groups;
    }
}

static int read_shape(const struct csv *csv, csrconv_geometry *g)
{
    const struct member members[] = {
        { "groups", &g->groups },    { "ic", &g->channels },    { "oc", &g->filters },
        { "ih", &g->height },        { "iw", &g->width },       { "kh", &g->kernel_h },
        { "kw", &g->kernel_w },      { "sh", &g->stride_h },    { "sw", &g->stride_w },
        { "pad_t", &g->pad_top },    { "pad_l", &g->pad_left }, { "dil_h", &g->dilation_h },
        { "dil_w", &g->dilation_w },
    };
    csrconv_geometry_init(g);
    return read_members(csv, members, (int)(sizeof members / sizeof *members));
}

/*
 * The padding behind an axis. Less than none is rows that no output reads, which the formula rounds
 * away; a whole stride of them or more is a crop, which is not supported.
 */
static bool read_end_padding(const struct csv *csv, const char *name, int64_t stride, int64_t *out)
{
    const long long padding = atoll(cell(csv, name));
    *out = padding > 0 ? padding : 0;
    return padding > -stride;
}

/* The output sizes of the table must be ours, before anything is scaled. */
static int check_output(const struct csv *csv, const csrconv_geometry *g)
{
    int64_t out_h, out_w;
    if (csrconv_output_size(g, &out_h, &out_w))
        return complain(EXIT_WRONG, cell(csv, "name"), "%s", csrconv_last_error());
    if (out_h == atoll(cell(csv, "oh")) && out_w == atoll(cell(csv, "ow")))
        return EXIT_DONE;
    return complain(EXIT_WRONG, cell(csv, "name"),
                    "output %" PRId64 " x %" PRId64 ", the table has %s x %s", out_h, out_w,
                    cell(csv, "oh"), cell(csv, "ow"));
}

static void tell(const struct grid_case *problem, const char *algorithm, int status,
                 const char *detail, double max_error)
{
    (void)max_error;
    if (status == TRIAL_FAILED)
        printf("FAILED %s, %s: %s\n", algorithm, problem->name, detail);
}

static int shape_case(struct run *run, const struct csv *csv)
{
    const struct check_request request = { run->device, run->ordinal, run->wanted, 0, 3, tell };
    struct grid_case problem = { .options = { .sparsity = 0.85, .has_bias = true } };
    csrconv_geometry *g = &problem.geometry;
    bool ran;
    int code = read_shape(csv, g);
    if (code)
        return code;
    if (!read_end_padding(csv, "pad_b", g->stride_h, &g->pad_bottom) ||
        !read_end_padding(csv, "pad_r", g->stride_w, &g->pad_right)) {
        printf("skipped %s: its output is a crop\n", cell(csv, "name"));
        run->count.skipped++;
        return EXIT_DONE;
    }
    if ((code = check_output(csv, g)))
        return code;
    scale(g);
    problem.n = g->batch;
    snprintf(problem.name, sizeof problem.name, "%.150s", cell(csv, "name"));
    return check_problem(&request, &problem, &run->count, &ran);
}

/* By the algorithms that are named, or by all. */
static int run_all(struct run *run, const char *device, const struct text_list *names)
{
    const char *name;
    int code = selection_usable_device(device, &run->device, &run->ordinal, &name);
    if (!code)
        code = selection_mark(names, run->wanted);
    if (!code)
        code = each_row(run, "onnx/cases.csv", onnx_case);
    if (!code)
        code = each_row(run, "onednn_shapes_2d.csv", shape_case);
    return code;
}

int main(int argc, char **argv)
{
    char folder[PATH_MAX];
    struct run run = { .folder = folder };
    struct text_list names = { 0 };
    FILE *probe;
    int code = EXIT_DONE;
    snprintf(folder, sizeof folder, "%s/conformance/onnx/cases.csv", argc > 1 ? argv[1] : ".");
    probe = fopen(folder, "r");
    if (!probe) {
        printf("skipped: ../shared/data not present\n");
        return SKIPPED;
    }
    fclose(probe);
    snprintf(folder, sizeof folder, "%s/conformance", argv[1]);
    run.wanted = calloc((size_t)selection_count(), sizeof *run.wanted);
    for (int i = 3; i < argc && !code; i++)
        code = text_list_append("conformance", argv[i], &names);
    if (!code)
        code = run.wanted ? run_all(&run, argc > 2 ? argv[2] : "cpu", &names)
                          : complain(EXIT_WRONG, "memory", "no room");
    if (code)
        printf("FAILED %s\n", complaint());
    printf("%" PRId64 " passed, %" PRId64 " failed, %" PRId64 " skipped\n", run.count.passed,
           run.count.failed, run.count.skipped);
    text_list_free(&names);
    free(run.wanted);
    return code || run.count.failed || !run.count.passed;
}
