#include "stage.h"

#include "complain.h"

#include <string.h>

static int copy_block(struct stage *stage, const struct guarded *guarded, void **copy)
{
    const size_t bytes = (size_t)guarded->block_floats * sizeof(float);
    *copy = stage->place->allocate(bytes);
    if (!*copy)
        return complain(EXIT_WRONG, "memory", "no room for %zu bytes of a tensor", bytes);
    return stage->place->upload(*copy, guarded->block, bytes);
}

int stage_make(const struct workload *workload, csrconv_device device, int ordinal,
               struct stage *stage)
{
    int code;
    memset(stage, 0, sizeof *stage);
    stage->place = place_of(device);
    stage->ordinal = ordinal;
    stage->workload = workload;
    if (!stage->place)
        return complain(EXIT_REFUSED, "device", "there is no such device in this build");
    if ((code = stage->place->select(ordinal)) ||
        (code = copy_block(stage, &workload->in, &stage->in)) ||
        (workload->residual.block &&
         (code = copy_block(stage, &workload->residual, &stage->residual))) ||
        (code = workload_make_output(workload, &stage->result)))
        return code;
    return copy_block(stage, &stage->result, &stage->out);
}

void stage_free(struct stage *stage)
{
    void *const copies[] = { stage->in, stage->residual, stage->out };
    for (size_t i = 0; i < sizeof copies / sizeof *copies; i++)
        if (copies[i])
            stage->place->release(copies[i]);
    guarded_free(&stage->result);
    memset(stage, 0, sizeof *stage);
}

static size_t output_bytes(const struct stage *stage)
{
    return (size_t)stage->result.block_floats * sizeof(float);
}

int stage_clear_output(struct stage *stage)
{
    workload_fill_canaries(&stage->result);
    return stage->place->upload(stage->out, stage->result.block, output_bytes(stage));
}

int stage_fetch_output(struct stage *stage)
{
    return stage->place->download(stage->result.block, stage->out, output_bytes(stage));
}

const float *stage_in(const struct stage *stage)
{
    return (const float *)stage->in + stage->workload->in.start;
}

const float *stage_residual(const struct stage *stage)
{
    return stage->residual ? (const float *)stage->residual + stage->workload->residual.start
                           : NULL;
}

float *stage_out(const struct stage *stage)
{
    return (float *)stage->out + stage->result.start;
}
