/*
 * Graphs of ONNX files, run on an input of ones: whatever they ask for, it is done or refused. A
 * few bytes may ask for large activations, so the fuzzer wants -malloc_limit_mb=1000000 and
 * ASAN_OPTIONS=allocator_may_return_null=1:max_allocation_size_mb=24.
 */
#include "complain.h"
#include "model/inference.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST_ELEMENTS = 1 << 14 };

static void require(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "%s (%s)\n", what, complaint());
    abort();
}

/* As the model declares it, 2 where it does not; false if that is larger than is run here. */
static bool make_input(const struct model *model, struct tensor *out)
{
    const struct model_shape any = { 4, { 1, 1, 8, 8 } };
    struct model_shape shape = model->input_count ? model->inputs[0].shape : any;
    int64_t count;
    if (shape.rank < 0)
        shape = any;
    for (int i = 0; i < shape.rank; i++)
        shape.dims[i] = shape.dims[i] < 0 ? 2 : shape.dims[i];
    if (!tensor_product(shape.rank, shape.dims, &count) || count > MOST_ELEMENTS ||
        tensor_make_dense("INPUT", shape.rank, shape.dims, out))
        return false;
    for (int64_t i = 0; i < count; i++)
        out->values[i] = 1.0F;
    return true;
}

static int run(const struct model *model, const struct tensor *input, bool folds)
{
    struct inference *inference = NULL;
    struct tensor output = { 0 };
    csrconv_plan_options options;
    struct plan_cache cache = { .wish = "off" };
    const struct inference_request request = { NULL, "INPUT", folds, &options, &cache };
    csrconv_plan_options_init(&options);
    options.device = CSRCONV_DEVICE_CPU;
    options.threads = 1;
    int code = inference_create(model, &request, input, &inference);
    if (!code)
        code = inference_run(inference, input, &output);
    if (!code)
        require(tensor_count(&output) > 0 && output.values, "an output without elements");
    tensor_free(&output);
    inference_destroy(&inference);
    return code;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *const image = malloc(size + 1);
    struct tensor input = { 0 };
    struct model model;
    complain_clear();
    if (!image)
        return 0;
    memcpy(image, data, size);
    if (model_read_memory("MODEL", image, size, &model) == EXIT_DONE && make_input(&model, &input))
        for (int folds = 0; folds < 2; folds++) {
            complain_clear();
            require(run(&model, &input, folds) == EXIT_DONE || *complaint(),
                    "a refusal without its line");
        }
    tensor_free(&input);
    model_free(&model);
    return 0;
}
