/*
 * Blobs: the envelope, and what cuda_jit makes of the contents. Since a digest would stop every
 * input, each is tried as it is, and once more as an identity and contents that are sealed here.
 */
#include "harness.h"

#include "blob.h"
#include "jit_contents.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void require(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "%s (%s)\n", what, csrconv_last_error());
    abort();
}

/* A layer with a border, groups and a batch; made once. */
static const struct csrconv_problem *problem_of_contents(void)
{
    static struct csrconv_problem problem;
    static const float dense[4 * 2 * 9] = { 1.0F, [20] = 2.0F, [70] = 3.0F };
    csrconv_weights *weights;
    csrconv_geometry g;
    if (problem.weights)
        return &problem;
    csrconv_geometry_init(&g);
    g.batch = 3;
    g.channels = g.filters = 4;
    g.groups = 2;
    g.height = g.width = 7;
    g.kernel_h = g.kernel_w = 3;
    g.pad_top = g.pad_left = g.pad_bottom = g.pad_right = 1;
    require(!csrconv_weights_from_dense(dense, 4, 2, 3, 3, NULL, &weights) &&
                !csrconv_shape_init(&problem.shape, &g),
            "the layer is refused");
    problem.weights = weights;
    return &problem;
}

/* What is taken can be counted with, and comes back the same. */
static void try_contents(const struct csrconv_contents *contents)
{
    struct csrconv_problem problem = *problem_of_contents();
    struct csrconv_jit_image *image;
    struct csrconv_memory memory;
    void *again;
    problem.compiled = *contents;
    csrconv_memory_init(&memory, NULL);
    if (csrconv_jit_contents_image(&problem, &memory, &image)) {
        require(!image, "a refusal that left memory");
        return;
    }
    require(csrconv_jit_launch_images(&problem.shape, &image->tiling) >= 1, "nothing is launched");
    require(csrconv_jit_contents(image, NULL) == contents->size, "another size came back");
    again = malloc(contents->size);
    if (again) {
        csrconv_jit_contents(image, again);
        require(memcmp(again, contents->bytes, contents->size) == 0, "other bytes came back");
    }
    free(again);
    csrconv_release(&memory, image);
}

static void try_blob(const uint8_t *data, size_t size)
{
    struct csrconv_blob blob;
    const csrconv_status status = csrconv_blob_open(data, size, &blob);
    if (status) {
        require(status == CSRCONV_BAD_BLOB && csrconv_last_error()[0], "no refusal of a blob");
        return;
    }
    require((const uint8_t *)blob.contents.bytes + blob.contents.size == data + size,
            "contents that are not the blob's");
    try_contents(&blob.contents);
}

/* The input as identity and contents, in an envelope. */
static void try_sealed(const uint8_t *data, size_t size)
{
    struct csrconv_blob_identity identity;
    const size_t contents = size - sizeof identity, whole = csrconv_blob_size(contents);
    uint8_t *blob = malloc(whole);
    if (!blob)
        return;
    memcpy(&identity, data, sizeof identity);
    memcpy(csrconv_blob_contents(blob), data + sizeof identity, contents);
    csrconv_blob_seal(&identity, blob, whole);
    try_blob(blob, whole);
    free(blob);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    try_blob(data, size);
    if (size >= sizeof(struct csrconv_blob_identity))
        try_sealed(data, size);
    return 0;
}
