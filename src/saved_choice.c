#include "saved_choice.h"

#include "backend.h"
#include "cpu_features.h"
#include "status.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static uint64_t mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * 0x9e3779b97f4a7c15U;
    return hash ^ hash >> 32;
}

uint64_t csrconv_pattern_digest(const struct csrconv_weights *weights)
{
    uint64_t hash = (uint64_t)weights->filters;
    for (int64_t m = 0; m <= weights->filters; m++)
        hash = mix(hash, (uint64_t)weights->indptr[m]);
    for (int64_t i = 0; i < csrconv_nonzeros(weights); i++)
        hash = mix(hash, (uint64_t)weights->indices[i]);
    return hash;
}

/* Of all that a time depends on but for the weights: the shape, and what the epilogue reads. */
static uint64_t layer_digest(const struct csrconv_problem *problem)
{
    const csrconv_geometry *g = &problem->shape.g;
    const csrconv_epilogue *e = &problem->epilogue;
    const int64_t words[] = { g->batch,        g->channels,        g->height,
                              g->width,        g->filters,         g->kernel_h,
                              g->kernel_w,     g->stride_h,        g->stride_w,
                              g->dilation_h,   g->dilation_w,      g->pad_top,
                              g->pad_left,     g->pad_bottom,      g->pad_right,
                              g->groups,       g->in_batch_stride, g->out_batch_stride,
                              e->bias != NULL, e->residual,        (int64_t)e->activation };
    uint64_t hash = 0;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        hash = mix(hash, (uint64_t)words[i]);
    return hash;
}

enum part { PART_VERSION, PART_DEVICE, PART_LAYER, PART_NONZEROS, PARTS };
enum { PART_BYTES = 112 };

static csrconv_status write_device(const struct csrconv_problem *problem, char text[PART_BYTES])
{
    char name[CSRCONV_CPU_NAME_BYTES];
    if (problem->device == CSRCONV_DEVICE_CUDA)
        return csrconv_cuda_model(text, PART_BYTES);
    csrconv_cpu_name(name);
    snprintf(text, PART_BYTES, "%s, threads %d", name, problem->team.threads);
    return CSRCONV_OK;
}

static csrconv_status write_parts(const struct csrconv_problem *problem, uint64_t pattern,
                                  char parts[PARTS][PART_BYTES])
{
    snprintf(parts[PART_VERSION], PART_BYTES, "csrconv %s", csrconv_version_string());
    snprintf(parts[PART_LAYER], PART_BYTES, "layer %016" PRIx64, layer_digest(problem));
    snprintf(parts[PART_NONZEROS], PART_BYTES, "nonzeros %016" PRIx64, pattern);
    return write_device(problem, parts[PART_DEVICE]);
}

csrconv_status csrconv_choice_write(const struct csrconv_problem *problem, uint64_t pattern,
                                    const char *algorithm, char text[CSRCONV_CHOICE_BYTES])
{
    char parts[PARTS][PART_BYTES];
    const csrconv_status status = write_parts(problem, pattern, parts);
    if (status)
        return status;
    if (snprintf(text, CSRCONV_CHOICE_BYTES, "%s; %s; %s; %s; %s", algorithm, parts[PART_VERSION],
                 parts[PART_DEVICE], parts[PART_LAYER],
                 parts[PART_NONZEROS]) >= CSRCONV_CHOICE_BYTES)
        return csrconv_fail(CSRCONV_BAD_BUFFER, "the choice of %.64s takes more than %d bytes",
                            algorithm, CSRCONV_CHOICE_BYTES);
    return CSRCONV_OK;
}

static csrconv_status differs(enum part part, const char *here, const char *text)
{
    static const char *const whats[PARTS] = { "another version of csrconv", "another device",
                                              "another geometry or epilogue",
                                              "weights with other nonzeros" };
    return csrconv_fail(CSRCONV_NOT_SUPPORTED, "the saved choice is for %s than \"%s\": \"%.200s\"",
                        whats[part], here, text);
}

/* Where the next part begins, NULL if this one is another; the last one ends the text. */
static const char *skip_part(const char *at, const char *part, bool is_last)
{
    const size_t length = strlen(part);
    if (strncmp(at, part, length) != 0)
        return NULL;
    at += length;
    if (is_last)
        return *at ? NULL : at;
    return strncmp(at, "; ", 2) == 0 ? at + 2 : NULL;
}

csrconv_status csrconv_choice_read(const char *text, const struct csrconv_problem *problem,
                                   uint64_t pattern, char algorithm[CSRCONV_CHOICE_BYTES])
{
    char parts[PARTS][PART_BYTES];
    const char *const end = strstr(text, "; ");
    const char *at = end;
    const csrconv_status status = write_parts(problem, pattern, parts);
    if (status)
        return status;
    if (!end || end == text || end - text >= CSRCONV_CHOICE_BYTES)
        return csrconv_fail(CSRCONV_BAD_ARGUMENT, "\"%.100s\" is no choice of csrconv_plan_choice",
                            text);
    at += 2;
    for (int i = 0; i < PARTS; i++) {
        at = skip_part(at, parts[i], i == PARTS - 1);
        if (!at)
            return differs((enum part)i, parts[i], text);
    }
    snprintf(algorithm, CSRCONV_CHOICE_BYTES, "%.*s", (int)(end - text), text);
    return CSRCONV_OK;
}
