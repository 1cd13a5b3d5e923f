#include "dense.h"

#include "epilogue.h"

#include <string.h>

csrconv_status csrconv_dense_weights(const struct csrconv_weights *weights,
                                     struct csrconv_memory *memory, float **dense)
{
    const csrconv_status status = csrconv_allocate(
        memory, weights->filters, (size_t)weights->columns * sizeof(float), (void **)dense);
    if (status)
        return status;
    memset(*dense, 0, (size_t)(weights->filters * weights->columns) * sizeof(float));
    for (int64_t m = 0; m < weights->filters; m++)
        for (int64_t i = weights->indptr[m]; i < weights->indptr[m + 1]; i++)
            (*dense)[m * weights->columns + weights->indices[i]] = weights->values[i];
    return CSRCONV_OK;
}

struct job {
    const struct csrconv_run *run;
    int64_t image;
};

/* Items are the filters of the image. */
static void apply(void *argument, int64_t begin, int64_t end)
{
    const struct job *job = argument;
    const struct csrconv_run *run = job->run;
    const struct csrconv_shape *shape = run->shape;
    for (int64_t m = begin; m < end; m++) {
        const float bias = run->epilogue->bias ? run->epilogue->bias[m] : 0.0F;
        const int64_t at = job->image * shape->g.out_batch_stride + m * shape->out_plane;
        for (int64_t i = at; i < at + shape->out_plane; i++) {
            const float sum = run->out[i] + bias;
            run->out[i] =
                csrconv_activate(run->epilogue, run->residual ? sum + run->residual[i] : sum);
        }
    }
}

void csrconv_dense_epilogue(const struct csrconv_run *run, int64_t image)
{
    const csrconv_epilogue *e = run->epilogue;
    struct job job = { run, image };
    if (e->bias || run->residual || e->activation != CSRCONV_ACTIVATION_NONE)
        csrconv_team_run(run->team, run->shape->g.filters, apply, &job);
}
