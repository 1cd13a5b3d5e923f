#include "tune.h"

#include "backend.h"
#include "clock.h"
#include "status.h"

#include <stdio.h>
#include <string.h>

/* What candidates run on: tensors that nobody else sees, where the plan's would be. */
struct scratch {
    const struct csrconv_problem *problem;
    struct csrconv_memory memory;
    void *in, *residual, *out;
};

static void give_back(const struct scratch *s, void *block)
{
    if (s->problem->device == CSRCONV_DEVICE_CUDA)
        csrconv_cuda_give_back(block);
    else
        csrconv_release(&s->memory, block);
}

/* Reals in [-1, 1): a GPU's clock may rise over zeros, and a CPU is slow at what is almost zero. */
static void fill(float *values, int64_t count)
{
    uint32_t state = 1;
    for (int64_t i = 0; i < count; i++) {
        state = state * 1664525U + 1013904223U;
        values[i] = (float)(state >> 8) * 0x1p-23F - 1.0F;
    }
}

/* Room on the device for bytes that nobody has written. */
static csrconv_status take(struct scratch *s, int64_t floats, void **out)
{
    return s->problem->device == CSRCONV_DEVICE_CUDA
               ? csrconv_cuda_take(&s->memory, floats, NULL, out)
               : csrconv_allocate(&s->memory, floats, sizeof(float), out);
}

static csrconv_status take_filled(struct scratch *s, int64_t floats, void **out)
{
    void *values;
    csrconv_status status = csrconv_allocate(&s->memory, floats, sizeof(float), &values);
    if (status)
        return status;
    fill(values, floats);
    if (s->problem->device == CSRCONV_DEVICE_CPU) {
        *out = values;
        return CSRCONV_OK;
    }
    status = csrconv_cuda_take(&s->memory, floats, values, out);
    csrconv_release(&s->memory, values);
    return status;
}

static csrconv_status make_scratch(struct scratch *s)
{
    const csrconv_geometry *g = &s->problem->shape.g;
    csrconv_status status = take_filled(s, g->batch * g->in_batch_stride, &s->in);
    if (!status && s->problem->epilogue.residual)
        status = take_filled(s, g->batch * g->out_batch_stride, &s->residual);
    return status ? status : take(s, g->batch * g->out_batch_stride, &s->out);
}

static void free_scratch(const struct scratch *s)
{
    give_back(s, s->in);
    give_back(s, s->residual);
    give_back(s, s->out);
}

/* ------------------------------------------------------------------------------ one candidate */

struct candidate {
    const struct csrconv_algorithm *algorithm;
    const void *state;
    struct csrconv_run run;
};

static csrconv_status execute(void *context, void *stream)
{
    struct candidate *candidate = context;
    candidate->run.stream = stream;
    return candidate->algorithm->execute(candidate->state, &candidate->run);
}

enum { SAMPLES = 5, MOST_RUNS = 20 };
static const double sample_us = 500.0; /* long against a clock's and a scheduler's step */
static const double least_us = 1e-3;   /* 0 would be no measurement */

static csrconv_status time_runs(struct candidate *candidate, int runs, double *us)
{
    const double start = clock_us();
    csrconv_status status = CSRCONV_OK;
    for (int i = 0; i < runs && !status; i++)
        status = execute(candidate, NULL);
    *us = (clock_us() - start) / runs;
    return status;
}

/* By insertion: SAMPLES are few. */
static double median_of(double samples[SAMPLES])
{
    for (int i = 1; i < SAMPLES; i++)
        for (int j = i; j > 0 && samples[j] < samples[j - 1]; j--) {
            const double earlier = samples[j - 1];
            samples[j - 1] = samples[j];
            samples[j] = earlier;
        }
    return samples[SAMPLES / 2];
}

/* The first run starts threads and fills caches, the second says how many fill a sample. */
static csrconv_status time_on_cpu(struct candidate *candidate, double *us)
{
    double samples[SAMPLES];
    csrconv_status status = time_runs(candidate, 1, us);
    if (!status)
        status = time_runs(candidate, 1, us);
    const int runs = *us * MOST_RUNS < sample_us ? MOST_RUNS : (int)(sample_us / *us) + 1;
    for (int i = 0; i < SAMPLES && !status; i++)
        status = time_runs(candidate, runs, &samples[i]);
    if (!status)
        *us = median_of(samples);
    return status;
}

static csrconv_status time_prepared(struct scratch *s, const struct csrconv_algorithm *algorithm,
                                    const struct csrconv_prepared *prepared, double *us)
{
    const struct csrconv_problem *p = s->problem;
    const int64_t floats = (int64_t)((prepared->workspace_bytes + 3) / sizeof(float));
    struct candidate candidate = { .algorithm = algorithm,
                                   .state = prepared->state,
                                   .run = { .shape = &p->shape,
                                            .epilogue = &p->epilogue,
                                            .team = &p->team,
                                            .n = p->shape.g.batch,
                                            .in = s->in,
                                            .residual = s->residual,
                                            .out = s->out } };
    csrconv_status status = take(s, floats, &candidate.run.workspace);
    if (status)
        return status;
    status = p->device == CSRCONV_DEVICE_CUDA ? csrconv_cuda_time(execute, &candidate, us)
                                              : time_on_cpu(&candidate, us);
    give_back(s, candidate.run.workspace);
    *us = *us > least_us ? *us : least_us;
    return status;
}

/* ---------------------------------------------------------------------------------- all of them */

/* The fastest so far and what it prepared. */
struct leader {
    const struct csrconv_considered *entry; /* NULL: none yet */
    struct csrconv_prepared prepared;
};

static void drop(const struct csrconv_algorithm *algorithm, struct csrconv_prepared *prepared)
{
    algorithm->destroy(&prepared->memory, prepared->state);
}

static void take_lead(struct leader *leader, const struct csrconv_considered *entry,
                      const struct csrconv_prepared *prepared)
{
    if (leader->entry)
        drop(leader->entry->algorithm, &leader->prepared);
    leader->entry = entry;
    leader->prepared = *prepared;
}

/* What fails here is as good as refused, but for a fault: a GPU runs nothing after one. */
static csrconv_status try_entry(struct scratch *s, struct csrconv_considered *entry,
                                const struct csrconv_prepared *empty, struct leader *leader)
{
    const struct csrconv_algorithm *a = entry->algorithm;
    struct csrconv_prepared prepared = *empty;
    double us = 0.0;
    csrconv_status status;
    prepared.estimate = &entry->estimate;
    status = a->prepare(a, s->problem, &prepared);
    if (!status)
        status = time_prepared(s, a, &prepared, &us);
    if (status) {
        entry->status = status;
        entry->estimate.us = 0.0;
        snprintf(entry->reason, sizeof entry->reason, "%s", csrconv_last_error());
        drop(a, &prepared);
        return status == CSRCONV_EXECUTION_FAILED ? status : CSRCONV_OK;
    }
    entry->measured_us = us;
    if (!leader->entry || us < leader->entry->measured_us)
        take_lead(leader, entry, &prepared);
    else
        drop(a, &prepared);
    return CSRCONV_OK;
}

csrconv_status csrconv_tune(const struct csrconv_problem *problem, const struct csrconv_wish *wish,
                            struct csrconv_choice *choice, struct csrconv_prepared *prepared)
{
    struct scratch scratch = { .problem = problem, .memory = prepared->memory };
    struct leader leader = { .entry = NULL };
    csrconv_status status = make_scratch(&scratch);
    for (int i = 0; i < choice->count && !status; i++)
        if (csrconv_is_eligible(&choice->considered[i], wish))
            status = try_entry(&scratch, &choice->considered[i], prepared, &leader);
    free_scratch(&scratch);
    if (status && leader.entry)
        drop(leader.entry->algorithm, &leader.prepared);
    else if (leader.entry)
        *prepared = leader.prepared;
    return status;
}
