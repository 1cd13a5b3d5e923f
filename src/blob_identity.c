#include "blob.h"
#include "status.h"

#include <string.h>

static void add_number(struct csrconv_sha256 *hash, int64_t number)
{
    csrconv_sha256_add(hash, &number, sizeof number);
}

static void digest_weights(const struct csrconv_weights *w, uint8_t *digest)
{
    const int64_t nonzeros = csrconv_nonzeros(w);
    struct csrconv_sha256 hash;
    csrconv_sha256_begin(&hash);
    add_number(&hash, w->filters);
    add_number(&hash, w->channels_per_group);
    add_number(&hash, w->kernel_h);
    add_number(&hash, w->kernel_w);
    csrconv_sha256_add(&hash, w->indptr, (size_t)(w->filters + 1) * sizeof *w->indptr);
    csrconv_sha256_add(&hash, w->indices, (size_t)nonzeros * sizeof *w->indices);
    csrconv_sha256_add(&hash, w->values, (size_t)nonzeros * sizeof *w->values);
    csrconv_sha256_end(&hash, digest);
}

static void digest_geometry(const csrconv_geometry *g, uint8_t *digest)
{
    const int64_t members[] = { g->batch,           g->channels,        g->height,     g->width,
                                g->filters,         g->kernel_h,        g->kernel_w,   g->stride_h,
                                g->stride_w,        g->dilation_h,      g->dilation_w, g->pad_top,
                                g->pad_left,        g->pad_bottom,      g->pad_right,  g->groups,
                                g->in_batch_stride, g->out_batch_stride };
    struct csrconv_sha256 hash;
    csrconv_sha256_begin(&hash);
    csrconv_sha256_add(&hash, members, sizeof members);
    csrconv_sha256_end(&hash, digest);
}

/* The epilogue: everything else says where and how a plan is made, not what it computes. */
static void digest_options(const struct csrconv_problem *problem, uint8_t *digest)
{
    const csrconv_epilogue *e = &problem->epilogue;
    const bool is_clamp = e->activation == CSRCONV_ACTIVATION_CLAMP;
    const float bounds[] = { is_clamp ? e->lo : 0.0F, is_clamp ? e->hi : 0.0F };
    struct csrconv_sha256 hash;
    csrconv_sha256_begin(&hash);
    add_number(&hash, e->bias != NULL);
    if (e->bias)
        csrconv_sha256_add(&hash, e->bias, (size_t)problem->shape.g.filters * sizeof *e->bias);
    add_number(&hash, e->residual);
    add_number(&hash, (int64_t)e->activation);
    csrconv_sha256_add(&hash, bounds, sizeof bounds);
    csrconv_sha256_end(&hash, digest);
}

void csrconv_blob_digest(const struct csrconv_problem *problem,
                         struct csrconv_blob_identity *identity)
{
    digest_weights(problem->weights, identity->weights);
    digest_geometry(&problem->shape.g, identity->geometry);
    digest_options(problem, identity->options);
}

csrconv_status csrconv_blob_identify(const struct csrconv_problem *problem,
                                     const struct csrconv_algorithm *algorithm,
                                     struct csrconv_blob_identity *identity)
{
    const size_t length = strlen(algorithm->info.name);
    memset(identity, 0, sizeof *identity);
    if (length >= sizeof identity->algorithm)
        return csrconv_fail(CSRCONV_INTERNAL, "the name %s is too long for a blob",
                            algorithm->info.name);
    memcpy(identity->algorithm, algorithm->info.name, length);
    csrconv_blob_digest(problem, identity);
    return algorithm->target(problem, identity->target);
}

csrconv_status csrconv_blob_check_identity(const struct csrconv_blob_identity *got,
                                           const struct csrconv_blob_identity *want)
{
    const struct {
        const void *got, *want;
        const char *what;
    } parts[] = { { got->weights, want->weights, "other weights" },
                  { got->geometry, want->geometry, "another geometry" },
                  { got->options, want->options, "another epilogue" } };
    if (memcmp(got->algorithm, want->algorithm, sizeof got->algorithm) != 0)
        return csrconv_fail(CSRCONV_BAD_BLOB, "the blob is of %s, not of %s", got->algorithm,
                            want->algorithm);
    if (memcmp(got->target, want->target, sizeof got->target) != 0)
        return csrconv_fail(CSRCONV_BAD_BLOB, "the blob was made for %s, not for %s", got->target,
                            want->target);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (memcmp(parts[i].got, parts[i].want, CSRCONV_SHA256_BYTES) != 0)
            return csrconv_fail(CSRCONV_BAD_BLOB, "the blob is of %s than the plan", parts[i].what);
    return CSRCONV_OK;
}
