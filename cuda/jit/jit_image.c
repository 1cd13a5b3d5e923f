#include "jit_image.h"

#include "jit_ptx.h"

#include <stdio.h>
#include <string.h>

enum { CODE_ALIGNMENT = 64 };

/* What one panel came to; threads fill one each. */
struct product {
    struct csrconv_jit_code code;
    csrconv_status status;
    char reason[256];
};

struct job {
    const struct csrconv_problem *problem;
    const struct csrconv_jit_tiling *tiling;
    const struct csrconv_jit_deal *deal;
    int capability;
    const struct csrconv_memory *memory;
    struct product *products;
};

static csrconv_status assemble(const struct job *job, int64_t number,
                               const struct csrconv_jit_panel *panel, struct csrconv_memory *memory,
                               struct csrconv_jit_code *code)
{
    const struct csrconv_jit_turn turn = { number == 0, number == job->deal->panels - 1 };
    struct csrconv_jit_text text = { .memory = memory };
    csrconv_status status;
    csrconv_jit_ptx_print(job->problem, job->tiling, panel, turn, &text);
    status = text.status ? text.status
                         : csrconv_jit_assemble(&text, job->capability, memory, code, NULL);
    csrconv_jit_text_free(&text);
    return status;
}

static void make_product(const struct job *job, int64_t number)
{
    struct product *product = &job->products[number];
    struct csrconv_memory memory = *job->memory; /* its count is not for several threads */
    struct csrconv_jit_panel panel;
    product->status =
        csrconv_jit_panel_make(job->problem, job->tiling, job->deal, number, &memory, &panel);
    if (!product->status)
        product->status = assemble(job, number, &panel, &memory, &product->code);
    csrconv_jit_panel_free(&memory, &panel);
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
static csrconv_status check_products(const struct product *products, int64_t panels)
{
    for (int64_t i = 0; i < panels; i++)
        if (products[i].status)
            return csrconv_fail(products[i].status, "%s", products[i].reason);
    return CSRCONV_OK;
}

static int64_t aligned(int64_t bytes)
{
    return (bytes + CODE_ALIGNMENT - 1) / CODE_ALIGNMENT * CODE_ALIGNMENT;
}

static csrconv_status pack(const struct csrconv_jit_tiling *tiling, const struct product *products,
                           int64_t panels, struct csrconv_memory *memory,
                           struct csrconv_jit_image **image)
{
    const int64_t head =
        aligned((int64_t)sizeof **image + (panels + 1) * (int64_t)sizeof *(*image)->begin);
    int64_t bytes = head;
    csrconv_status status;
    for (int64_t i = 0; i < panels; i++)
        bytes += aligned((int64_t)products[i].code.size);
    status = csrconv_allocate(memory, bytes, 1, (void **)image);
    if (status)
        return status;
    memset(*image, 0, (size_t)bytes);
    (*image)->tiling = *tiling;
    (*image)->panels = panels;
    (*image)->bytes = bytes;
    (*image)->begin[0] = head;
    for (int64_t i = 0; i < panels; i++) {
        const struct csrconv_jit_code *code = &products[i].code;
        memcpy((char *)*image + (*image)->begin[i], code->bytes, code->size);
        (*image)->begin[i + 1] = (*image)->begin[i] + aligned((int64_t)code->size);
    }
    return CSRCONV_OK;
}

static csrconv_status make_image(struct job *job, struct csrconv_memory *memory,
                                 struct csrconv_jit_image **image)
{
    csrconv_status status;
    csrconv_team_run(&job->problem->team, job->deal->panels, make_products, job);
    status = check_products(job->products, job->deal->panels);
    return status ? status : pack(job->tiling, job->products, job->deal->panels, memory, image);
}

csrconv_status csrconv_jit_image_make(const struct csrconv_problem *problem,
                                      const struct csrconv_jit_tiling *tiling, int capability,
                                      struct csrconv_memory *memory,
                                      struct csrconv_jit_image **image)
{
    struct csrconv_memory scratch = *memory; /* not the plan's */
    struct csrconv_jit_deal deal = { 0, NULL };
    struct job job = { problem, tiling, &deal, capability, &scratch, NULL };
    csrconv_status status = csrconv_jit_deal_make(problem, tiling, &scratch, &deal);
    *image = NULL;
    if (!status)
        status =
            csrconv_allocate(&scratch, deal.panels, sizeof *job.products, (void **)&job.products);
    if (!status) {
        memset(job.products, 0, (size_t)deal.panels * sizeof *job.products);
        status = make_image(&job, memory, image);
        for (int64_t i = 0; i < deal.panels; i++)
            csrconv_release(&scratch, job.products[i].code.bytes);
    }
    csrconv_release(&scratch, job.products);
    csrconv_jit_deal_free(&scratch, &deal);
    return status;
}
