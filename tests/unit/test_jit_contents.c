/* The compiled plan of cuda_jit as bytes: back the same, or refused. */
#include "exact_layer.h"

#include "jit_contents.h"

#include <string.h>

enum { CODE = 100, NUMBER = 8 };

static const struct csrconv_block_machine gpu = { 132, 227 * 1024, 228 * 1024, 1.98 };

struct kept {
    struct csrconv_problem problem;
    struct csrconv_memory memory;
    struct csrconv_jit_tiling tiling;
    uint8_t *bytes;
    size_t size;
};

/* An image, with code that is none. */
static int keep(void **state)
{
    static struct kept kept;
    csrconv_geometry g = geometry_of(8, 7, 7, 300, 1, 1);
    csrconv_weights *weights = weights_of(&g);
    struct csrconv_jit_image *image;
    memset(&kept, 0, sizeof kept);
    kept.problem.weights = weights;
    assert_ok(csrconv_shape_init(&kept.problem.shape, &g));
    assert_ok(csrconv_memory_init(&kept.memory, NULL));
    assert_ok(csrconv_jit_tiling_choose(&kept.problem, &gpu, &kept.tiling));
    assert_ok(csrconv_jit_image_make(&kept.tiling, CODE, &kept.memory, &image));
    memset(image->code, 'a', CODE);
    kept.size = csrconv_jit_contents(image, NULL);
    kept.bytes = test_malloc(kept.size);
    assert_int_equal(csrconv_jit_contents(image, kept.bytes), kept.size);
    csrconv_release(&kept.memory, image);
    kept.problem.compiled = (struct csrconv_contents){ kept.bytes, kept.size };
    *state = &kept;
    return 0;
}

static int drop(void **state)
{
    struct kept *kept = *state;
    csrconv_weights *weights = (csrconv_weights *)(uintptr_t)kept->problem.weights;
    test_free(kept->bytes);
    csrconv_weights_destroy(&weights);
    return 0;
}

static void images_come_back(void **state)
{
    struct kept *kept = *state;
    struct csrconv_jit_image *image;
    uint8_t *again = test_malloc(kept->size);
    assert_ok(csrconv_jit_contents_image(&kept->problem, &kept->memory, &image));
    assert_int_equal(image->code_bytes, CODE);
    assert_int_equal(image->code[CODE - 1], 'a');
    assert_int_equal(image->tiling.threads, kept->tiling.threads);
    assert_int_equal(image->tiling.is_flat, kept->tiling.is_flat);
    assert_int_equal(image->tiling.trims, kept->tiling.trims);
    assert_int_equal(image->tiling.shared_bytes, kept->tiling.shared_bytes);
    assert_int_equal(csrconv_jit_contents(image, again), kept->size);
    assert_memory_equal(again, kept->bytes, kept->size);
    csrconv_release(&kept->memory, image);
    test_free(again);
}

static void refuse_contents(struct kept *kept, const char *fragment)
{
    struct csrconv_jit_image *image = (struct csrconv_jit_image *)kept;
    assert_fails(csrconv_jit_contents_image(&kept->problem, &kept->memory, &image),
                 CSRCONV_BAD_BLOB, fragment);
    assert_null(image);
}

/* From memory of just that size, so that a sanitizer sees what is read behind it. */
static void what_has_no_code_is_refused(void **state)
{
    struct kept *kept = *state;
    for (size_t size = 0; size <= kept->size - CODE; size++) {
        uint8_t *bytes = test_malloc(size + !size);
        memcpy(bytes, kept->bytes, size);
        kept->problem.compiled = (struct csrconv_contents){ bytes, size };
        refuse_contents(kept, "the blob of cuda_jit");
        test_free(bytes);
    }
}

/* No number is taken that is negative, or so large that products overflow. */
static void wild_numbers_are_refused(void **state)
{
    static const uint8_t wild[] = { 0x80, 0x7f };
    struct kept *kept = *state;
    for (size_t i = 0; i < kept->size - CODE; i += NUMBER)
        for (int w = 0; w < COUNT_OF(wild); w++) {
            const uint8_t high = kept->bytes[i + NUMBER - 1];
            kept->bytes[i + NUMBER - 1] = wild[w];
            refuse_contents(kept, "the blob of cuda_jit");
            kept->bytes[i + NUMBER - 1] = high;
        }
}

static void other_problems_refuse(void **state)
{
    struct kept *kept = *state;
    csrconv_geometry g = kept->problem.shape.g;
    g.batch = 50;
    assert_ok(csrconv_shape_init(&kept->problem.shape, &g));
    refuse_contents(kept, "cut for another problem");
}

/* A flat tiling and one of tiles. */
struct tilings {
    struct csrconv_jit_tiling flat, tile;
};

static void sort_in(void *context, const struct csrconv_jit_tiling *tiling)
{
    struct tilings *tilings = context;
    *(tiling->is_flat ? &tilings->flat : &tilings->tile) = *tiling;
}

/* What becomes of a plan of that tiling. */
static csrconv_status keep_and_take(const struct csrconv_problem *problem,
                                    const struct csrconv_jit_tiling *tiling)
{
    struct csrconv_problem with_blob = *problem;
    struct csrconv_memory memory;
    struct csrconv_jit_image *image;
    struct csrconv_jit_tiling again;
    csrconv_status status;
    void *bytes;
    assert_ok(csrconv_memory_init(&memory, NULL));
    assert_ok(csrconv_jit_image_make(tiling, 1, &memory, &image));
    image->code[0] = 'a';
    with_blob.compiled.size = csrconv_jit_contents(image, NULL);
    with_blob.compiled.bytes = bytes = test_malloc(with_blob.compiled.size);
    csrconv_jit_contents(image, bytes);
    status = csrconv_jit_contents_tiling(&with_blob, &again);
    test_free(bytes);
    csrconv_release(&memory, image);
    return status;
}

/* One number after the other that the problem or another number settles, larger by one. */
static void contradict(const struct csrconv_problem *problem,
                       const struct csrconv_jit_tiling *tiling)
{
#define OF(member) offsetof(struct csrconv_jit_tiling, member)
    static const size_t members[] = { OF(threads),      OF(blocks),         OF(row_tiles),
                                      OF(column_tiles), OF(panels),         OF(stage_rows),
                                      OF(stages),       OF(stage_channels), OF(filters),
                                      OF(stage_columns) };
#undef OF
    assert_int_equal(keep_and_take(problem, tiling), CSRCONV_OK);
    for (int i = 0; i < COUNT_OF(members); i++) {
        struct csrconv_jit_tiling wrong = *tiling;
        ++*(int64_t *)(void *)((char *)&wrong + members[i]);
        assert_int_equal(keep_and_take(problem, &wrong), CSRCONV_BAD_BLOB);
    }
}

static void contradictions_are_refused(void **state)
{
    csrconv_geometry g = geometry_of(4, 9, 9, 5, 3, 3);
    csrconv_weights *weights = weights_of(&g);
    struct csrconv_problem problem = { .weights = weights };
    struct tilings tilings = { 0 };
    (void)state;
    assert_ok(csrconv_shape_init(&problem.shape, &g));
    csrconv_jit_tiling_each(&problem, &gpu, sort_in, &tilings);
    contradict(&problem, &tilings.flat);
    contradict(&problem, &tilings.tile);
    /* Of one image, nothing is trimmed. */
    tilings.flat.trims = tilings.tile.trims = true;
    assert_int_equal(keep_and_take(&problem, &tilings.flat), CSRCONV_BAD_BLOB);
    assert_int_equal(keep_and_take(&problem, &tilings.tile), CSRCONV_BAD_BLOB);
    csrconv_weights_destroy(&weights);
}

static void take(void *context, const struct csrconv_jit_tiling *tiling)
{
    assert_int_equal(keep_and_take(context, tiling), CSRCONV_OK);
}

/* Whatever the search may choose. */
static void every_tiling_comes_back(void **state)
{
    enum { ROUNDS = 20 };
    struct random_state random;
    (void)state;
    random_seed(&random, 5);
    for (int i = 0; i < ROUNDS; i++) {
        const csrconv_geometry g = random_geometry(&random);
        csrconv_weights *weights = random_weights(&random, &g);
        struct csrconv_problem problem = { .weights = weights };
        assert_ok(csrconv_shape_init(&problem.shape, &g));
        csrconv_jit_tiling_each(&problem, &gpu, take, &problem);
        csrconv_weights_destroy(&weights);
    }
}

#define with_contents(test) cmocka_unit_test_setup_teardown(test, keep, drop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_contents(images_come_back),
        with_contents(what_has_no_code_is_refused),
        with_contents(wild_numbers_are_refused),
        with_contents(other_problems_refuse),
        cmocka_unit_test(contradictions_are_refused),
        cmocka_unit_test(every_tiling_comes_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
