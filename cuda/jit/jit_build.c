#include "jit_build.h"

#include "jit_compile.h"
#include "jit_ptx.h"
#include "patch.h"

#include <stdio.h>
#include <string.h>

/* What one text came to; threads fill one each. */
struct product {
    struct csrconv_jit_code code;
    csrconv_status status;
    char reason[256];
};

/* The texts of all units, and that of the kernel's entry behind them. */
struct job {
    const struct csrconv_problem *problem;
    const struct csrconv_jit_tiling *tiling;
    const struct csrconv_jit_deal *deal;
    int capability;
    const struct csrconv_memory *memory;
    int64_t units;
    struct product *products; /* one more than units */
};

static csrconv_status print_part(const struct job *job, int64_t number,
                                 struct csrconv_jit_text *text)
{
    struct csrconv_jit_part part;
    const csrconv_status status =
        csrconv_jit_part_make(job->problem, job->tiling, job->deal, number, text->memory, &part);
    if (!status)
        csrconv_jit_ptx_part(job->problem, job->tiling, &part, text);
    csrconv_jit_part_free(text->memory, &part);
    return status ? status : text->status;
}

static csrconv_status print_text(const struct job *job, int64_t number,
                                 struct csrconv_jit_text *text)
{
    const struct csrconv_shape *shape = &job->problem->shape;
    const struct csrconv_jit_tiling *t = job->tiling;
    csrconv_status status = CSRCONV_OK;
    if (number == job->units) {
        csrconv_jit_ptx_entry(shape, t, text);
        return text->status;
    }
    csrconv_jit_ptx_begin(text);
    for (int64_t i = number * t->unit_parts; i < csrconv_jit_unit_end(shape, t, number) && !status;
         i++)
        status = print_part(job, i, text);
    return status ? status : text->status;
}

static void make_product(const struct job *job, int64_t number)
{
    const struct csrconv_jit_tiling *t = job->tiling;
    const int64_t registers = csrconv_jit_registers(t->threads / CSRCONV_LANES * t->residents);
    struct product *product = &job->products[number];
    struct csrconv_memory memory = *job->memory; /* its count is not for several threads */
    struct csrconv_jit_text text = { .memory = &memory };
    product->status = print_text(job, number, &text);
    if (!product->status)
        product->status =
            csrconv_jit_assemble(&text, job->capability, registers, &memory, &product->code, NULL);
    csrconv_jit_text_free(&text);
    if (product->status)
        snprintf(product->reason, sizeof product->reason, "%s", csrconv_last_error());
}

static void make_products(void *argument, int64_t begin, int64_t end)
{
    const struct job *job = argument;
    for (int64_t i = begin; i < end; i++)
        make_product(job, i);
}

/* What failed first, as a failure of this thread. */
static csrconv_status check_products(const struct job *job)
{
    for (int64_t i = 0; i <= job->units; i++)
        if (job->products[i].status)
            return csrconv_fail(job->products[i].status, "%s", job->products[i].reason);
    return CSRCONV_OK;
}

/* All of them, linked. */
static csrconv_status link_products(const struct job *job, struct csrconv_memory *memory,
                                    struct csrconv_jit_code *code)
{
    struct csrconv_jit_code *parts;
    csrconv_status status =
        csrconv_allocate(memory, job->units + 1, sizeof *parts, (void **)&parts);
    if (status)
        return status;
    for (int64_t i = 0; i <= job->units; i++)
        parts[i] = job->products[i].code;
    status = csrconv_jit_link(parts, job->units + 1, job->capability, memory, code);
    csrconv_release(memory, parts);
    return status;
}

static csrconv_status make_image(struct job *job, struct csrconv_memory *scratch,
                                 struct csrconv_memory *memory, struct csrconv_jit_image **image)
{
    struct csrconv_jit_code code = { NULL, 0 };
    csrconv_status status;
    csrconv_team_run(&job->problem->team, job->units + 1, make_products, job);
    status = check_products(job);
    if (!status)
        status = link_products(job, scratch, &code);
    if (!status)
        status = csrconv_jit_image_make(job->tiling, (int64_t)code.size, memory, image);
    if (!status)
        memcpy((*image)->code, code.bytes, code.size);
    csrconv_release(scratch, code.bytes);
    return status;
}

csrconv_status csrconv_jit_build(const struct csrconv_problem *problem,
                                 const struct csrconv_jit_tiling *tiling, int capability,
                                 struct csrconv_memory *memory, struct csrconv_jit_image **image)
{
    struct csrconv_memory scratch = *memory; /* not the plan's */
    struct csrconv_jit_deal deal = { 0, NULL };
    struct job job = { problem,    tiling,   &deal,
                       capability, &scratch, csrconv_jit_units(&problem->shape, tiling),
                       NULL };
    csrconv_status status = csrconv_jit_deal_make(problem, tiling, &scratch, &deal);
    *image = NULL;
    if (!status)
        status =
            csrconv_allocate(&scratch, job.units + 1, sizeof *job.products, (void **)&job.products);
    if (!status) {
        memset(job.products, 0, (size_t)(job.units + 1) * sizeof *job.products);
        status = make_image(&job, &scratch, memory, image);
        for (int64_t i = 0; i <= job.units; i++)
            csrconv_release(&scratch, job.products[i].code.bytes);
    }
    csrconv_release(&scratch, job.products);
    csrconv_jit_deal_free(&scratch, &deal);
    return status;
}
