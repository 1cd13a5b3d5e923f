/*
 * What is left when a real GPU fails: its memory runs out, or a kernel reads where nothing is. A
 * fault takes the GPU from the whole process, so each one has a child of its own.
 */
#include "gpu_fixture.h"

#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---------------------------------------------------------------------------- a kernel's fault */

static const char *faulty; /* the algorithm, in the child */

/* Once the GPU has failed: every call says so, and what needs no GPU goes on. */
static void check_aftermath(struct gpu_layer *layer, const struct gpu_buffers *buffers)
{
    const csrconv_plan_options options = gpu_options(faulty);
    csrconv_plan *plan = (csrconv_plan *)&plan;
    struct gpu_layer on_cpu;
    assert_fails(gpu_execute(layer, buffers), CSRCONV_EXECUTION_FAILED, ": ");
    assert_fails(csrconv_plan_create(layer->weights, &layer->geometry, &options, &plan),
                 CSRCONV_EXECUTION_FAILED, ": ");
    assert_null(plan);
    gpu_layer_make(&on_cpu, "direct"); /* executes it, too */
    assert_memory_equal(on_cpu.want, layer->want, (size_t)layer->out_floats * sizeof(float));
    gpu_layer_free(&on_cpu);
    gpu_layer_free(layer);
    assert_null(layer->plan);
}

/* The address is no memory of the GPU's, which only the kernel finds out. */
static void a_fault_is_told_and_survived(void **state)
{
    struct gpu_layer layer;
    struct gpu_buffers good, bad;
    (void)state;
    gpu_layer_make(&layer, faulty);
    gpu_buffers_make(&layer, &good);
    assert_ok(gpu_execute(&layer, &good));
    assert_true(gpu_output_is_right(&layer, &good));
    bad = good;
    bad.in = (float *)0x1000;
    assert_ok(gpu_execute(&layer, &bad));
    assert_int_not_equal(cudaStreamSynchronize(bad.stream), cudaSuccess);
    check_aftermath(&layer, &good);
}

/* In a child: CUDA does not outlive a fork, so the parent has not begun with it. */
static int fault_in_child(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(a_fault_is_told_and_survived) };
    if (csrconv_device_usable(CSRCONV_DEVICE_CUDA, 0)) {
        printf("skipped: %s\n", csrconv_last_error());
        return SKIPPED;
    }
    return cmocka_run_group_tests_name(faulty, tests, NULL, NULL);
}

static int worst; /* exit code of the children: a failure, else a skip, else 0 */

static void fork_and_fault(const char *algorithm)
{
    int state;
    pid_t child;
    fflush(stdout);
    fflush(stderr);
    child = fork();
    if (child == 0) {
        faulty = algorithm;
        state = fault_in_child();
        fflush(stdout);
        fflush(stderr);
        _exit(state);
    }
    if (child < 0 || waitpid(child, &state, 0) != child || !WIFEXITED(state)) {
        fprintf(stderr, "%s: the child did not end by itself\n", algorithm);
        worst = 1;
    } else if (WEXITSTATUS(state) == SKIPPED) {
        worst = worst ? worst : SKIPPED;
    } else if (WEXITSTATUS(state)) {
        worst = 1;
    }
}

/* ------------------------------------------------------------------------- a GPU without memory */

enum {
    ROOM = 4 << 20,
    ROOMS = 64,
    HOGS = 512,
    SLACK = 2 << 20 /* what the driver may keep; an array of the plan below is larger */
};

/* All of the GPU's memory: first some rooms to let go one by one, then whatever else there is. */
struct hog {
    void *rooms[ROOMS];
    void *rest[HOGS];
};

static void hog_make(struct hog *hog)
{
    size_t available, total;
    int count = 0;
    *hog = (struct hog){ 0 };
    for (int i = 0; i < ROOMS; i++)
        assert_cuda(cudaMalloc(&hog->rooms[i], ROOM));
    assert_cuda(cudaMemGetInfo(&available, &total));
    for (size_t bytes = available; bytes >= 1 << 20; bytes /= 2)
        while (count < HOGS && !cudaMalloc(&hog->rest[count], bytes))
            count++;
    assert_true(count < HOGS);
    (void)cudaGetLastError();
}

static void hog_free(struct hog *hog)
{
    for (int i = 0; i < ROOMS; i++)
        assert_cuda(cudaFree(hog->rooms[i]));
    for (int i = 0; i < HOGS; i++)
        assert_cuda(cudaFree(hog->rest[i]));
}

static size_t available_bytes(void)
{
    size_t available, total;
    assert_cuda(cudaMemGetInfo(&available, &total));
    return available;
}

/* Makes the plan with more and more room until it fits; returns how often it did not. */
static int fail_until_it_fits(const csrconv_weights *weights, const csrconv_geometry *g,
                              const csrconv_plan_options *options, struct hog *hog)
{
    csrconv_plan *plan = NULL;
    int failures = 0;
    for (int i = 0; i < ROOMS && !plan; i++) {
        const size_t before = available_bytes();
        const csrconv_status status = csrconv_plan_create(weights, g, options, &plan);
        if (status) {
            assert_fails(status, CSRCONV_OUT_OF_MEMORY, "memory");
            assert_null(plan);
            assert_int_equal(cudaPeekAtLastError(), cudaSuccess);
            failures++;
        }
        csrconv_plan_destroy(&plan);
        assert_true(available_bytes() + SLACK >= before);
        if (!status)
            return failures;
        assert_cuda(cudaFree(hog->rooms[i]));
        hog->rooms[i] = NULL;
    }
    fail_msg("no plan with %d MiB of room", ROOMS * (ROOM >> 20));
    return failures;
}

static void no_room_is_told_and_survived(const char *algorithm)
{
    const csrconv_geometry g = geometry_of(256, 14, 14, 1024, 3, 3);
    const csrconv_plan_options options = gpu_options(algorithm);
    csrconv_weights *weights = weights_of(&g);
    csrconv_plan *plan;
    struct hog hog;
    const csrconv_status status =
        csrconv_plan_create(weights, &g, &options, &plan); /* loads its code */
    if (status == CSRCONV_NOT_SUPPORTED) {
        printf("skipped: %s: %s\n", algorithm, csrconv_last_error());
        csrconv_weights_destroy(&weights);
        return;
    }
    assert_ok(status);
    csrconv_plan_destroy(&plan);
    hog_make(&hog);
    assert_true(fail_until_it_fits(weights, &g, &options, &hog) > 0);
    hog_free(&hog);
    assert_ok(csrconv_plan_create(weights, &g, &options, &plan));
    csrconv_plan_destroy(&plan);
    csrconv_weights_destroy(&weights);
}

static void a_full_gpu_costs_only_the_plan(void **state)
{
    (void)state;
    each_cuda_algorithm(no_room_is_told_and_survived);
}

/* A failure that was told does not wait for the caller's next cudaGetLastError. */
static void a_told_error_does_not_stay_behind(void **state)
{
    csrconv_plan_options options = gpu_options("cuda_direct");
    const csrconv_geometry g = geometry_of(3, 5, 5, 4, 3, 3);
    csrconv_weights *weights = weights_of(&g);
    csrconv_plan *plan;
    (void)state;
    options.ordinal = 1000;
    assert_fails(csrconv_plan_create(weights, &g, &options, &plan), CSRCONV_NO_DEVICE, "cuda:1000");
    assert_int_equal(cudaPeekAtLastError(), cudaSuccess);
    csrconv_weights_destroy(&weights);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_full_gpu_costs_only_the_plan),
        cmocka_unit_test(a_told_error_does_not_stay_behind),
    };
    int failed;
    each_cuda_algorithm(fork_and_fault);
    if (worst == SKIPPED)
        return SKIPPED;
    failed = cmocka_run_group_tests_name("gpu_faults", tests, NULL, NULL);
    return worst ? worst : failed;
}
