/* Blobs: what a plan gives, what makes the plan again, and what is refused of them. */
#include "compiler_fixture.h"
#include "plan_fixture.h"

#include "blob.h"
#include <string.h>

static struct fixture *use_compiler(void *fixture)
{
    struct fixture *f = fixture;
    compiler_reset(&f->options);
    return f;
}

/* The blob of a plan of the fixture: free it. */
static void *blob_of(const struct fixture *f, size_t *size)
{
    csrconv_plan *plan = plan_of(f);
    void *blob;
    *size = describe(plan).blob_bytes;
    assert_true(*size > sizeof COMPILER_CODE);
    blob = test_malloc(*size);
    assert_ok(csrconv_plan_blob(plan, blob, *size));
    csrconv_plan_destroy(&plan);
    return blob;
}

static void a_blob_makes_the_plan_again(void **state)
{
    struct fixture *f = use_compiler(*state);
    size_t size, again;
    void *blob = blob_of(f, &size), *second;
    csrconv_plan *plan;
    assert_int_equal(compiler.compilations, 1);
    f->options.blob = blob;
    f->options.blob_bytes = size;
    second = blob_of(f, &again);
    assert_int_equal(compiler.compilations, 1);
    assert_int_equal(again, size);
    assert_memory_equal(blob, second, size);
    f->options.algorithm = NULL; /* the blob names it */
    f->options.compile = CSRCONV_COMPILE_NEVER;
    compiler.estimate_us = 1e9;
    plan = plan_of(f);
    assert_ptr_equal(describe(plan).algorithm, compiler_peers[0]);
    assert_string_equal(describe(plan).reason, "taken from a blob");
    assert_true(describe(plan).plan_us > 0.0);
    assert_int_equal(compiler.compilations, 1);
    csrconv_plan_destroy(&plan);
    test_free(second);
    test_free(blob);
}

static void what_compiles_nothing_has_no_blob(void **state)
{
    const struct fixture *f = *state;
    csrconv_plan *plan = plan_of(f);
    char byte;
    assert_int_equal(describe(plan).blob_bytes, 0);
    assert_fails(csrconv_plan_blob(plan, &byte, 1), CSRCONV_NOT_SUPPORTED, "compiles nothing");
    assert_fails(csrconv_plan_blob(NULL, &byte, 1), CSRCONV_BAD_ARGUMENT, "plan is NULL");
    assert_fails(csrconv_plan_blob(plan, NULL, 1), CSRCONV_BAD_ARGUMENT, "blob is NULL");
    csrconv_plan_destroy(&plan);
}

static void room_must_be_the_blob_s(void **state)
{
    struct fixture *f = use_compiler(*state);
    csrconv_plan *plan = plan_of(f);
    const size_t size = describe(plan).blob_bytes;
    void *blob = test_malloc(size);
    assert_fails(csrconv_plan_blob(plan, blob, size - 1), CSRCONV_BAD_BUFFER, "blob_bytes is");
    test_free(blob);
    csrconv_plan_destroy(&plan);
}

static void refuse_blob(struct fixture *f, const void *blob, size_t size, const char *fragment)
{
    f->options.blob = blob;
    f->options.blob_bytes = size;
    refuse(f, CSRCONV_BAD_BLOB, fragment);
    f->options.blob = NULL;
    f->options.blob_bytes = 0;
}

/* Each shorter one, and each with one bit the other way. */
static void damage_is_found(void **state)
{
    struct fixture *f = use_compiler(*state);
    size_t size;
    uint8_t *blob = blob_of(f, &size);
    for (size_t i = 0; i < size; i++) {
        refuse_blob(f, blob, i, i ? "the blob" : "0 bytes");
        blob[i] ^= 1 << i % 8;
        refuse_blob(f, blob, size, "the blob");
        blob[i] ^= 1 << i % 8;
    }
    f->options.blob_bytes = size;
    refuse(f, CSRCONV_BAD_ARGUMENT, "blob is NULL");
    assert_int_equal(compiler.compilations, 1);
    test_free(blob);
}

/* One weight, one number of the geometry, one part of the epilogue, another machine. */
static void blobs_of_something_else_are_refused(void **state)
{
    struct fixture *f = use_compiler(*state);
    size_t size;
    void *blob = blob_of(f, &size);
    float bias[5] = { 1, 2, 3, 4, 5 };
    csrconv_weights *others;
    csrconv_csr view;
    f->geometry.batch++;
    refuse_blob(f, blob, size, "another geometry");
    f->geometry.batch--;
    f->options.epilogue.bias = bias;
    refuse_blob(f, blob, size, "another epilogue");
    f->options.epilogue.bias = NULL;
    compiler.machine = "a machine!";
    refuse_blob(f, blob, size, "made for a machine, not for a machine!");
    compiler.machine = "a machine";
    csrconv_csr_init(&view);
    assert_ok(csrconv_weights_view(f->weights, &view));
    ((float *)(uintptr_t)view.values)[0] += 1.0F;
    assert_ok(csrconv_weights_from_csr(&view, NULL, &others));
    ((float *)(uintptr_t)view.values)[0] -= 1.0F;
    csrconv_weights_destroy(&f->weights);
    f->weights = others;
    refuse_blob(f, blob, size, "other weights");
    test_free(blob);
}

static void other_algorithms_refuse_a_blob(void **state)
{
    struct fixture *f = use_compiler(*state);
    size_t size;
    void *blob = blob_of(f, &size);
    f->options.algorithm = "direct";
    refuse_blob(f, blob, size, "of compiler, not of direct");
    f->options.algorithm = "auto";
    f->options.peers = NULL;
    refuse_blob(f, blob, size, "not in this build");
    f->options.peers = compiler_peers;
    compiler_forget_target();
    refuse_blob(f, blob, size, "compiles nothing");
    test_free(blob);
}

/* The envelope of a blob says nothing of what the algorithm makes of its contents. */
static void contents_are_the_algorithm_s_to_check(void **state)
{
    struct fixture *f = use_compiler(*state);
    struct csrconv_blob opened;
    size_t size;
    uint8_t *blob = blob_of(f, &size);
    assert_ok(csrconv_blob_open(blob, size, &opened));
    ((char *)csrconv_blob_contents(blob))[0] = 'k';
    csrconv_blob_seal(&opened.identity, blob, size);
    refuse_blob(f, blob, size, "this is no code");
    test_free(blob);
}

/* Sentences quote the names, which are one line then: a digest is easily made for any. */
static void names_are_lines_of_text(void **state)
{
    static const char *const names[] = { "", "a\nb", "\x1b[2J", "caf\xc3\xa9", "\x7f" };
    struct fixture *f = use_compiler(*state);
    struct csrconv_blob opened;
    size_t size;
    void *blob = blob_of(f, &size);
    assert_ok(csrconv_blob_open(blob, size, &opened));
    for (int i = 0; i < 2 * COUNT_OF(names); i++) {
        struct csrconv_blob_identity identity = opened.identity;
        char *const text = i % 2 ? identity.algorithm : identity.target;
        memset(text, 0, i % 2 ? sizeof identity.algorithm : sizeof identity.target);
        memcpy(text, names[i / 2], strlen(names[i / 2]));
        csrconv_blob_seal(&identity, blob, size);
        refuse_blob(f, blob, size, "does not tell its algorithm and target");
    }
    test_free(blob);
}

/* The fastest own algorithm is taken unless the compiler wins a tenth, or must not be. */
static void compiling_has_to_pay(void **state)
{
    struct fixture *f = use_compiler(*state);
    csrconv_plan *plan;
    double own;
    f->options.algorithm = "auto";
    plan = plan_of(f);
    own = describe(plan).estimate_us;
    csrconv_plan_destroy(&plan);
    f->options.algorithm = "any";
    for (int i = 0; i < 4; i++) {
        compiler.estimate_us = i == 0 ? 0.95 * own : 0.8 * own;
        f->options.compile = i == 2 ? CSRCONV_COMPILE_NEVER : CSRCONV_COMPILE_AUTO;
        plan = plan_of(f);
        assert_int_equal(describe(plan).algorithm == compiler_peers[0], i % 2);
        csrconv_plan_destroy(&plan);
    }
    f->options.compile = (csrconv_compile)2;
    refuse(f, CSRCONV_BAD_ARGUMENT, "compile is 2");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_fixture(a_blob_makes_the_plan_again),
        with_fixture(what_compiles_nothing_has_no_blob),
        with_fixture(room_must_be_the_blob_s),
        with_fixture(damage_is_found),
        with_fixture(blobs_of_something_else_are_refused),
        with_fixture(other_algorithms_refuse_a_blob),
        with_fixture(contents_are_the_algorithm_s_to_check),
        with_fixture(names_are_lines_of_text),
        with_fixture(compiling_has_to_pay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
