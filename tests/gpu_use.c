/*
 * What callers rely on when they use plans on a real GPU: their current device is left alone, an
 * execute is not blamed for their own errors, it can be captured in graphs, queued on streams of
 * their own, and called from several threads at once; plans that measure are right too.
 */
#include "gpu_fixture.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

static void leaves_the_current_device(const char *algorithm)
{
    struct gpu_layer layer;
    struct gpu_buffers b;
    int count, current;
    gpu_layer_make(&layer, algorithm);
    gpu_buffers_make(&layer, &b);
    assert_cuda(cudaGetDeviceCount(&count));
    assert_cuda(cudaSetDevice(count - 1));
    assert_ok(gpu_execute(&layer, &b));
    assert_cuda(cudaGetDevice(&current));
    assert_int_equal(current, count - 1);
    assert_cuda(cudaSetDevice(0));
    assert_true(gpu_output_is_right(&layer, &b));
    gpu_buffers_free(&b);
    assert_cuda(cudaSetDevice(count - 1));
    gpu_layer_free(&layer);
    assert_cuda(cudaGetDevice(&current));
    assert_int_equal(current, count - 1);
    assert_cuda(cudaSetDevice(0));
}

/* A call of the caller's that failed before is not a failure of the execute. */
static void is_not_blamed_for_other_errors(const char *algorithm)
{
    struct gpu_layer layer;
    struct gpu_buffers b;
    gpu_layer_make(&layer, algorithm);
    gpu_buffers_make(&layer, &b);
    assert_int_not_equal(cudaSetDevice(-1), cudaSuccess);
    assert_ok(gpu_execute(&layer, &b));
    assert_true(gpu_output_is_right(&layer, &b));
    gpu_buffers_free(&b);
    gpu_layer_free(&layer);
}

/* In the strictest mode, in which an allocation of any thread would break the capture. */
static void is_captured_and_replayed(const char *algorithm)
{
    struct gpu_layer layer;
    struct gpu_buffers b;
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    gpu_layer_make(&layer, algorithm);
    gpu_buffers_make(&layer, &b);
    assert_cuda(cudaStreamBeginCapture(b.stream, cudaStreamCaptureModeGlobal));
    assert_ok(gpu_execute(&layer, &b));
    assert_cuda(cudaStreamEndCapture(b.stream, &graph));
    assert_cuda(cudaGraphInstantiate(&executable, graph, 0));
    for (int i = 0; i < 3; i++) {
        gpu_buffers_clear(&layer, &b);
        assert_cuda(cudaGraphLaunch(executable, b.stream));
        assert_true(gpu_output_is_right(&layer, &b));
    }
    assert_cuda(cudaGraphExecDestroy(executable));
    assert_cuda(cudaGraphDestroy(graph));
    gpu_buffers_free(&b);
    gpu_layer_free(&layer);
}

/*
 * Behind 16 copies on its own stream that bring the right input last: an execute that strayed to
 * another stream would not wait for them.
 */
static void follows_its_stream(const char *algorithm)
{
    enum { COPIES = 16 };
    struct gpu_layer layer;
    struct gpu_buffers b;
    float *other;
    size_t bytes;
    gpu_layer_make(&layer, algorithm);
    gpu_buffers_make(&layer, &b);
    bytes = (size_t)layer.in_floats * sizeof *other;
    assert_cuda(cudaMalloc((void **)&other, bytes));
    assert_cuda(cudaMemcpy(other, layer.in, bytes, cudaMemcpyHostToDevice));
    for (int i = 0; i < COPIES; i++) {
        assert_cuda(cudaMemsetAsync(b.in, 0, bytes, b.stream));
        assert_cuda(cudaMemcpyAsync(b.in, other, bytes, cudaMemcpyDeviceToDevice, b.stream));
    }
    assert_ok(gpu_execute(&layer, &b));
    assert_cuda(cudaMemsetAsync(b.in, 0xff, bytes, b.stream));
    assert_true(gpu_output_is_right(&layer, &b));
    assert_cuda(cudaFree(other));
    gpu_buffers_free(&b);
    gpu_layer_free(&layer);
}

/* One plan, buffers of the thread's own. cmocka asserts on the main thread only. */
struct caller {
    const struct gpu_layer *layer;
    struct gpu_buffers buffers;
    int failures;
};

static void *call(void *argument)
{
    enum { ROUNDS = 20 };
    struct caller *caller = argument;
    caller->failures = cudaSetDevice(0) != cudaSuccess;
    for (int i = 0; i < ROUNDS; i++)
        caller->failures += gpu_execute(caller->layer, &caller->buffers) ||
                            !gpu_output_is_right(caller->layer, &caller->buffers);
    return NULL;
}

static void runs_in_two_threads(const char *algorithm)
{
    struct gpu_layer layer;
    struct caller callers[2];
    pthread_t threads[2];
    gpu_layer_make(&layer, algorithm);
    for (int i = 0; i < 2; i++) {
        callers[i].layer = &layer;
        gpu_buffers_make(&layer, &callers[i].buffers);
    }
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, call, &callers[i]), 0);
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(callers[i].failures, 0);
        gpu_buffers_free(&callers[i].buffers);
    }
    gpu_layer_free(&layer);
}

/* A plan made again from its blob, where there is one. */
static void is_made_again(const char *algorithm)
{
    struct gpu_layer layer;
    struct gpu_buffers b;
    csrconv_plan_options options = gpu_options(algorithm);
    csrconv_plan_info info = { .struct_size = sizeof info };
    void *blob;
    gpu_layer_make(&layer, algorithm);
    gpu_buffers_make(&layer, &b);
    assert_ok(csrconv_plan_describe(layer.plan, &info));
    if (info.blob_bytes) {
        blob = test_malloc(info.blob_bytes);
        assert_ok(csrconv_plan_blob(layer.plan, blob, info.blob_bytes));
        csrconv_plan_destroy(&layer.plan);
        options.blob = blob;
        options.blob_bytes = info.blob_bytes;
        assert_ok(csrconv_plan_create(layer.weights, &layer.geometry, &options, &layer.plan));
        test_free(blob);
        assert_ok(gpu_execute(&layer, &b));
        assert_true(gpu_output_is_right(&layer, &b));
    }
    gpu_buffers_free(&b);
    gpu_layer_free(&layer);
}

/* In place of the layer's plan. */
static csrconv_plan_info replan(struct gpu_layer *layer, const csrconv_plan_options *options)
{
    csrconv_plan_info info = { .struct_size = sizeof info };
    csrconv_plan_destroy(&layer->plan);
    assert_ok(csrconv_plan_create(layer->weights, &layer->geometry, options, &layer->plan));
    assert_ok(csrconv_plan_describe(layer->plan, &info));
    layer->workspace_bytes = info.workspace_bytes;
    return info;
}

/* Measured on the GPU itself; what it took is taken again by the text of it. */
static void tuned_plans_are_right(void **state)
{
    csrconv_plan_options options = gpu_options(NULL);
    const csrconv_algorithm *taken;
    char choice[CSRCONV_CHOICE_BYTES];
    struct gpu_layer layer;
    struct gpu_buffers b;
    csrconv_plan_info info;
    (void)state;
    gpu_layer_make(&layer, "cuda_direct");
    options.device = CSRCONV_DEVICE_CUDA;
    options.tune = 1;
    info = replan(&layer, &options);
    taken = info.algorithm;
    assert_non_null(strstr(info.reason, "measured: "));
    gpu_buffers_make(&layer, &b);
    assert_ok(gpu_execute(&layer, &b));
    assert_true(gpu_output_is_right(&layer, &b));
    gpu_buffers_free(&b);
    assert_ok(csrconv_plan_choice(layer.plan, choice, sizeof choice));
    options.choice = choice;
    info = replan(&layer, &options);
    assert_ptr_equal(info.algorithm, taken);
    assert_string_equal(info.reason, "the saved choice");
    options.device = CSRCONV_DEVICE_CPU;
    csrconv_plan_destroy(&layer.plan);
    assert_fails(csrconv_plan_create(layer.weights, &layer.geometry, &options, &layer.plan),
                 CSRCONV_NOT_SUPPORTED, "another device");
    gpu_layer_free(&layer);
}

static void the_current_device_is_left_alone(void **state)
{
    (void)state;
    each_cuda_algorithm(leaves_the_current_device);
}

static void errors_of_the_caller_are_not_the_execute_s(void **state)
{
    (void)state;
    each_cuda_algorithm(is_not_blamed_for_other_errors);
}

static void executes_are_captured_and_replayed(void **state)
{
    (void)state;
    each_cuda_algorithm(is_captured_and_replayed);
}

static void executes_follow_their_stream(void **state)
{
    (void)state;
    each_cuda_algorithm(follows_its_stream);
}

static void two_threads_share_a_plan(void **state)
{
    (void)state;
    each_cuda_algorithm(runs_in_two_threads);
}

static void plans_are_made_again_from_blobs(void **state)
{
    (void)state;
    each_cuda_algorithm(is_made_again);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_current_device_is_left_alone),
        cmocka_unit_test(errors_of_the_caller_are_not_the_execute_s),
        cmocka_unit_test(executes_are_captured_and_replayed),
        cmocka_unit_test(executes_follow_their_stream),
        cmocka_unit_test(two_threads_share_a_plan),
        cmocka_unit_test(plans_are_made_again_from_blobs),
        cmocka_unit_test(tuned_plans_are_right),
    };
    if (csrconv_device_usable(CSRCONV_DEVICE_CUDA, 0)) {
        printf("skipped: %s\n", csrconv_last_error());
        return SKIPPED;
    }
    return cmocka_run_group_tests_name("gpu_use", tests, NULL, NULL);
}
