/* csrconv run: one layer or a network from files, through plans, to a file. */
#include "arrays.h"
#include "command.h"
#include "complain.h"
#include "csrconv.h"
#include "options.h"
#include "plan_cache.h"
#include "run_model.h"
#include "runner/host_execute.h"
#include "selection.h"
#include "weights_input.h"

#include "algorithm.h"
#include "clock.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: csrconv run --weights FILE --input X.npy --output Y.npy [OPTION ...]\n"
    "       csrconv run MODEL --input X.npy --output Y.npy [--layer NAME] [OPTION ...]\n"
    "\n"
    "Convolves X (N, C, H, W) with the weights and writes Y (N, M, P, Q); or runs the network of "
    "an\n"
    "ONNX file on X and writes its output.\n"
    "\n"
    "of a network:\n"
    "  --layer NAME          write the output of this node, or this value, instead\n"
    "  --repeat N            run N times; the time shown is the shortest (1)\n"
    "  --fold-bn             fold a BatchNormalization behind a convolution into it\n"
    "  --device, --algo, --threads, --cache as below, for its convolutions\n"
    "\n"
    "of one layer:\n"
    "  --weights FILE        npy (OIHW or M x C*R*S), scipy CSR npz, smtx or Matrix Market, told "
    "by\n"
    "                        content; one file a group may be given, comma-separated\n"
    "  --input X.npy         activations\n"
    "  --output Y.npy        result; - is standard output\n"
    "  --bias B.npy          M floats\n"
    "  --kernel C,R,S        of a group; needed unless the weights are a 4-D npy\n"
    "  --order crs|rsc       columns of a matrix, the last one fastest (crs)\n"
    "  --values ones|random[:SEED]   for weight files that hold a pattern only\n"
    "  --stride SH[,SW]      (1)\n"
    "  --pad P | PH,PW | T,L,B,R     (0)\n"
    "  --dilation DH[,DW]    1 = none (1)\n"
    "  --groups G            (1)\n"
    "  --residual R.npy      added before the activation, shape of Y\n"
    "  --activation none|relu|clamp:LO,HI\n"
    "  --device auto|cpu|cuda[:N]\n"
    "  --algo auto|any|NAME  (auto)\n"
    "  --threads T           0 = all (0)\n"
    "  --cache DIR|off       where weights compiled into code are kept for the next run: a folder "
    "of\n"
    "                        mode 700 ($XDG_CACHE_HOME/csrconv or ~/.cache/csrconv, up to 1 GiB)\n"
    "\n"
    "examples:\n"
    "  csrconv run --weights conv3.mtx --kernel 256,3,3 --pad 1 --input x.npy --output y.npy\n"
    "  csrconv run --weights w.npy --input x.npy --output y.npy --stride 2 --activation relu\n"
    "  csrconv run --weights g1.mtx,g2.mtx --groups 2 --kernel 48,5,5 --pad 2 \\\n"
    "              --input x.npy --output y.npy\n"
    "  csrconv run model.onnx --input x.npy --output y.npy\n"
    "  csrconv run model.onnx --layer conv1 --input x.npy --output features.npy\n";

struct run_options {
    const char *weights, *input, *output, *bias, *kernel, *order, *values, *residual;
    const char *activation, *device, *algo, *cache;
    int64_t stride[2], padding[4], dilation[2], groups, threads;
};

/* Everything that one run holds. */
struct layer {
    struct weights_input weights;
    struct tensor input, bias, residual, output;
    csrconv_geometry geometry;
    csrconv_plan_options plan_options;
    csrconv_plan *plan;
    csrconv_plan_info info;
};

static int parse(int argc, char **argv, struct run_options *o)
{
    const int64_t most = INT64_MAX;
    const struct option_spec specs[] = {
        { .name = "weights", .kind = OPTION_TEXT, .value = &o->weights },
        { .name = "input", .kind = OPTION_TEXT, .value = &o->input },
        { .name = "output", .kind = OPTION_TEXT, .value = &o->output },
        { .name = "bias", .kind = OPTION_TEXT, .value = &o->bias },
        { .name = "kernel", .kind = OPTION_TEXT, .value = &o->kernel },
        { .name = "order", .kind = OPTION_TEXT, .value = &o->order },
        { .name = "values", .kind = OPTION_TEXT, .value = &o->values },
        { .name = "residual", .kind = OPTION_TEXT, .value = &o->residual },
        { .name = "activation", .kind = OPTION_TEXT, .value = &o->activation },
        { .name = "device", .kind = OPTION_TEXT, .value = &o->device },
        { .name = "algo", .kind = OPTION_TEXT, .value = &o->algo },
        { .name = "cache", .kind = OPTION_TEXT, .value = &o->cache },
        { .name = "stride", .kind = OPTION_PAIR, .value = o->stride, .least = 1, .most = most },
        { .name = "pad", .kind = OPTION_PADDING, .value = o->padding, .least = 0, .most = most },
        { .name = "dilation", .kind = OPTION_PAIR, .value = o->dilation, .least = 1, .most = most },
        { .name = "groups", .kind = OPTION_WHOLE, .value = &o->groups, .least = 1, .most = most },
        { .name = "threads", .kind = OPTION_WHOLE, .value = &o->threads, .least = 0, .most = 4096 },
        { 0 },
    };
    const int code = options_parse(&command_run, specs, argc, argv, NULL);
    if (code)
        return code;
    if (!o->weights || !o->input || !o->output)
        return complain(EXIT_BAD, "run", "needs --weights, --input and --output");
    return EXIT_DONE;
}

static int read_weights(const struct run_options *o, struct layer *layer)
{
    struct weights_request request = { .files = o->weights,
                                       .groups = o->groups,
                                       .values = o->values };
    int code = weights_input_order(o->order, &request.is_rsc);
    if (!code && o->kernel)
        code = weights_input_kernel(o->kernel, request.kernel);
    if (!code)
        code = weights_input_read(&request, &layer->weights);
    if (!code && layer->weights.note[0])
        fprintf(stderr, "%s\n", layer->weights.note);
    return code;
}

static int read_input(const struct run_options *o, struct layer *layer)
{
    const csrconv_csr *w = &layer->weights.view;
    const int64_t *dims = layer->input.dims;
    csrconv_geometry *g = &layer->geometry;
    char shape[TENSOR_SHAPE_TEXT];
    const int code = array_read(o->input, &layer->input);
    if (code)
        return code;
    if (layer->input.rank != 4)
        return complain(EXIT_BAD, o->input, "shape %s is not (N, C, H, W)",
                        tensor_shape_text(layer->input.rank, dims, shape));
    if (w->channels_per_group > INT64_MAX / o->groups ||
        dims[1] != w->channels_per_group * o->groups)
        return complain(EXIT_BAD, o->input,
                        "has %" PRId64 " channels, the weights want %" PRId64 " in each of %" PRId64
                        " groups",
                        dims[1], w->channels_per_group, o->groups);
    csrconv_geometry_init(g);
    g->batch = dims[0];
    g->channels = dims[1];
    g->height = dims[2];
    g->width = dims[3];
    g->filters = w->filters;
    g->kernel_h = w->kernel_h;
    g->kernel_w = w->kernel_w;
    return EXIT_DONE;
}

static int settle_geometry(const struct run_options *o, struct layer *layer)
{
    csrconv_geometry *g = &layer->geometry;
    int64_t dims[4] = { g->batch, g->filters, 0, 0 };
    csrconv_status status;
    g->stride_h = o->stride[0];
    g->stride_w = o->stride[1];
    g->dilation_h = o->dilation[0];
    g->dilation_w = o->dilation[1];
    g->pad_top = o->padding[0];
    g->pad_left = o->padding[1];
    g->pad_bottom = o->padding[2];
    g->pad_right = o->padding[3];
    g->groups = o->groups;
    status = csrconv_output_size(g, &dims[2], &dims[3]);
    if (status)
        return selection_complain("geometry", status);
    return tensor_make_dense(o->output, 4, dims, &layer->output);
}

static int settle_activation(const char *text, csrconv_epilogue *epilogue)
{
    struct real_list bounds = { 0 };
    int code = EXIT_DONE;
    if (strcmp(text, "none") == 0)
        return code;
    if (strcmp(text, "relu") == 0) {
        epilogue->activation = CSRCONV_ACTIVATION_RELU;
        return code;
    }
    if (strncmp(text, "clamp:", 6) != 0)
        return complain(EXIT_BAD, "--activation", "\"%s\" is not none, relu or clamp:LO,HI", text);
    code = number_reals("--activation", text + 6, -3.4e38, 3.4e38, &bounds);
    if (!code && bounds.count != 2)
        code = complain(EXIT_BAD, "--activation", "\"%s\" is not clamp:LO,HI", text);
    if (!code) {
        epilogue->activation = CSRCONV_ACTIVATION_CLAMP;
        epilogue->lo = (float)bounds.items[0];
        epilogue->hi = (float)bounds.items[1];
    }
    real_list_free(&bounds);
    return code;
}

static int read_bias(const char *path, struct layer *layer)
{
    int code;
    if (!path)
        return EXIT_DONE;
    code = array_read(path, &layer->bias);
    if (!code && tensor_count(&layer->bias) != layer->geometry.filters)
        return complain(EXIT_BAD, path, "has %" PRId64 " elements for %" PRId64 " filters",
                        tensor_count(&layer->bias), layer->geometry.filters);
    layer->plan_options.epilogue.bias = layer->bias.values;
    return code;
}

static int read_residual(const char *path, struct layer *layer)
{
    char got[TENSOR_SHAPE_TEXT], want[TENSOR_SHAPE_TEXT];
    const struct tensor *r = &layer->residual, *y = &layer->output;
    int code;
    if (!path)
        return EXIT_DONE;
    code = array_read(path, &layer->residual);
    if (!code && (r->rank != 4 || memcmp(r->dims, y->dims, 4 * sizeof *r->dims) != 0))
        return complain(EXIT_BAD, path, "shape %s is not the output's, %s",
                        tensor_shape_text(r->rank, r->dims, got),
                        tensor_shape_text(y->rank, y->dims, want));
    layer->plan_options.epilogue.residual = 1;
    return code;
}

static int make_plan(const struct run_options *o, struct layer *layer)
{
    csrconv_plan_options *p = &layer->plan_options;
    struct plan_cache cache = { .wish = o->cache };
    csrconv_status status;
    int code = selection_device(o->device, &p->device, &p->ordinal);
    if (code)
        return code;
    p->algorithm = o->algo;
    p->threads = (int)o->threads;
    p->peers = csrconv_peer_table;
    status = plan_cache_create(&cache, layer->weights.weights, &layer->geometry, p, &layer->plan);
    plan_cache_close(&cache);
    if (status)
        return selection_complain(selection_flag(status, "run"), status);
    layer->info.struct_size = sizeof layer->info;
    csrconv_plan_describe(layer->plan, &layer->info);
    return EXIT_DONE;
}

static void say_what_ran(const struct run_options *o, const struct layer *layer, double us)
{
    const int is_stdout = strcmp(o->output, "-") == 0;
    const csrconv_plan_info *info = &layer->info;
    csrconv_algorithm_info algorithm = { .struct_size = sizeof algorithm };
    char device[16] = "cpu";
    csrconv_algorithm_describe(info->algorithm, &algorithm);
    if (info->device == CSRCONV_DEVICE_CUDA)
        snprintf(device, sizeof device, "cuda:%d", info->ordinal);
    fprintf(is_stdout ? stderr : stdout,
            "%s: %s (%s), %" PRId64 " nonzeros, output %" PRId64 " x %" PRId64 " x %" PRId64
            " x %" PRId64 ", %.3g ms\n",
            device, algorithm.name, info->reason, info->nonzeros, layer->output.dims[0],
            layer->output.dims[1], layer->output.dims[2], layer->output.dims[3], us * 1e-3);
}

static int run_layer(const struct run_options *o, struct layer *layer)
{
    double start;
    int code;
    csrconv_plan_options_init(&layer->plan_options);
    if ((code = settle_activation(o->activation, &layer->plan_options.epilogue)) ||
        (code = read_weights(o, layer)) || (code = read_input(o, layer)) ||
        (code = settle_geometry(o, layer)) || (code = read_bias(o->bias, layer)) ||
        (code = read_residual(o->residual, layer)) || (code = make_plan(o, layer)))
        return code;
    start = clock_us();
    code = host_execute(layer->plan, layer->geometry.batch, &layer->input,
                        layer->residual.values ? &layer->residual : NULL, &layer->output);
    if (code)
        return code;
    say_what_ran(o, layer, clock_us() - start);
    return array_write(o->output, &layer->output);
}

/* Whether the arguments are of one layer: only then there are weights beside the model. */
static bool has_weights(int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--weights") == 0 || strncmp(argv[i], "--weights=", 10) == 0)
            return true;
    return false;
}

static int run_layer_of_files(int argc, char **argv)
{
    struct run_options options = { .order = "crs",
                                   .activation = "none",
                                   .device = "auto",
                                   .algo = "auto",
                                   .stride = { 1, 1 },
                                   .dilation = { 1, 1 },
                                   .groups = 1 };
    struct layer layer = { 0 };
    int code = parse(argc, argv, &options);
    if (!code)
        code = run_layer(&options, &layer);
    csrconv_plan_destroy(&layer.plan);
    weights_input_free(&layer.weights);
    tensor_free(&layer.input);
    tensor_free(&layer.bias);
    tensor_free(&layer.residual);
    tensor_free(&layer.output);
    return code;
}

static int run(int argc, char **argv)
{
    return has_weights(argc, argv) ? run_layer_of_files(argc, argv) : run_model(argc, argv);
}

const struct command command_run = {
    .name = "run",
    .summary = "convolve a .npy tensor with pruned weights, or run a network on it",
    .help = help,
    .run = run,
};
