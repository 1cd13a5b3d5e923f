#include "run_model.h"

#include "algorithm.h"
#include "arrays.h"
#include "command.h"
#include "complain.h"
#include "model/inference.h"
#include "options.h"
#include "plan_cache.h"
#include "selection.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct model_options {
    struct text_list models;
    const char *input, *output, *layer, *device, *algo, *cache;
    int64_t threads, repeat;
    int folds;
};

static int parse(int argc, char **argv, struct model_options *o)
{
    const struct option_spec specs[] = {
        { .name = "input", .kind = OPTION_TEXT, .value = &o->input },
        { .name = "output", .kind = OPTION_TEXT, .value = &o->output },
        { .name = "layer", .kind = OPTION_TEXT, .value = &o->layer },
        { .name = "device", .kind = OPTION_TEXT, .value = &o->device },
        { .name = "algo", .kind = OPTION_TEXT, .value = &o->algo },
        { .name = "cache", .kind = OPTION_TEXT, .value = &o->cache },
        { .name = "fold-bn", .kind = OPTION_FLAG, .value = &o->folds },
        { .name = "threads", .kind = OPTION_WHOLE, .value = &o->threads, .least = 0, .most = 4096 },
        { .name = "repeat",
          .kind = OPTION_WHOLE,
          .value = &o->repeat,
          .least = 1,
          .most = 1000000 },
        { 0 },
    };
    const int code = options_parse(&command_run, specs, argc, argv, &o->models);
    if (code)
        return code;
    if (o->models.count != 1 || !o->input || !o->output)
        return complain(EXIT_BAD, "run", "needs --weights or one MODEL, --input and --output");
    return EXIT_DONE;
}

static int plan_options(const struct model_options *o, csrconv_plan_options *out)
{
    csrconv_plan_options_init(out);
    out->algorithm = o->algo;
    out->threads = (int)o->threads;
    out->peers = csrconv_peer_table;
    return selection_device(o->device, &out->device, &out->ordinal);
}

static void say_what_ran(const struct model_options *o, const struct inference_info *info,
                         const struct tensor *output)
{
    char device[16] = "cpu", shape[TENSOR_SHAPE_TEXT];
    if (info->device == CSRCONV_DEVICE_CUDA)
        snprintf(device, sizeof device, "cuda:%d", info->ordinal);
    fprintf(strcmp(o->output, "-") == 0 ? stderr : stdout,
            "%s: %zu nodes, %zu convolutions%s%s%s, %" PRId64 " of %" PRId64
            " weights, output %s, %.3g ms, %.0f %% in convolutions\n",
            device, info->nodes, info->convolutions, info->convolutions ? " (" : "",
            info->algorithms, info->convolutions ? ")" : "", info->nonzeros, info->weights,
            tensor_shape_text(output->rank, output->dims, shape), info->us * 1e-3,
            info->us > 0.0 ? 100.0 * info->convolution_us / info->us : 0.0);
}

/* Runs it as often as asked; *info is of the fastest. */
static int repeat(struct inference *inference, int64_t count, const struct tensor *input,
                  struct tensor *output, struct inference_info *info)
{
    int code = EXIT_DONE;
    for (int64_t i = 0; i < count && !code; i++) {
        struct inference_info one;
        tensor_free(output);
        code = inference_run(inference, input, output);
        inference_describe(inference, &one);
        if (i == 0 || one.us < info->us)
            *info = one;
    }
    return code;
}

static int run_on(const struct model_options *o, const struct model *model,
                  const struct tensor *input)
{
    struct inference *inference = NULL;
    struct inference_info info;
    struct tensor output = { 0 };
    csrconv_plan_options options;
    struct plan_cache cache = { .wish = o->cache };
    const struct inference_request request = { o->layer, o->input, o->folds != 0, &options,
                                               &cache };
    int code = plan_options(o, &options);
    if (!code)
        code = inference_create(model, &request, input, &inference);
    plan_cache_close(&cache);
    if (!code)
        code = repeat(inference, o->repeat, input, &output, &info);
    if (!code)
        code = array_write(o->output, &output);
    if (!code)
        say_what_ran(o, &info, &output);
    tensor_free(&output);
    inference_destroy(&inference);
    return code;
}

int run_model(int argc, char **argv)
{
    struct model_options o = { .device = "auto", .algo = "auto", .repeat = 1 };
    struct tensor input = { 0 };
    struct model model = { 0 };
    int code = parse(argc, argv, &o);
    if (!code)
        code = model_read(o.models.items[0], &model);
    if (!code)
        code = array_read(o.input, &input);
    if (!code)
        code = run_on(&o, &model, &input);
    tensor_free(&input);
    model_free(&model);
    text_list_free(&o.models);
    return code;
}
