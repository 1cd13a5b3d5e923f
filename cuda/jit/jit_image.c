#include "jit_image.h"

#include "jit_ptx.h"

#include <stdio.h>
#include <string.h>

enum { CODE_ALIGNMENT = 64 };

/* What one kernel came to; threads fill one each. */
struct product {
    struct csrconv_jit_code code;
    csrconv_status status;
    char reason[256];
};

struct job {
    const struct csrconv_problem *problem;
    const struct csrconv_jit_tiling *tiling;
    const struct csrconv_jit_deal *deal;
    int64_t kernels;
    int capability;
    const struct csrconv_memory *memory;
    struct product *products;
};

static csrconv_status print_panel(const struct job *job, int64_t kernel, int64_t number,
                                  struct csrconv_jit_text *text)
{
    const struct csrconv_jit_turn turn = { kernel == 0, kernel == job->kernels - 1 };
    struct csrconv_jit_panel panel;
    const csrconv_status status =
        csrconv_jit_panel_make(job->problem, job->tiling, job->deal,
                               kernel * job->tiling->kernel_panels + number, text->memory, &panel);
    if (!status)
        csrconv_jit_ptx_panel(job->problem, job->tiling, &panel, number, turn, text);
    csrconv_jit_panel_free(text->memory, &panel);
    return status ? status : text->status;
}

static csrconv_status print_kernel(const struct job *job, int64_t kernel,
                                   struct csrconv_jit_text *text)
{
    const int64_t panels = csrconv_jit_panels_of(&job->problem->shape, job->tiling, kernel);
    csrconv_status status = CSRCONV_OK;
    csrconv_jit_ptx_begin(job->tiling, panels, text);
    for (int64_t i = 0; i < panels && !status; i++)
        status = print_panel(job, kernel, i, text);
    csrconv_jit_ptx_end(text);
    return status ? status : text->status;
}

static void make_product(const struct job *job, int64_t kernel)
{
    struct product *product = &job->products[kernel];
    struct csrconv_memory memory = *job->memory; /* its count is not for several threads */
    struct csrconv_jit_text text = { .memory = &memory };
    product->status = print_kernel(job, kernel, &text);
    if (!product->status)
        product->status =
            csrconv_jit_assemble(&text, job->capability, &memory, &product->code, NULL);
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
static csrconv_status check_products(const struct product *products, int64_t kernels)
{
    for (int64_t i = 0; i < kernels; i++)
        if (products[i].status)
            return csrconv_fail(products[i].status, "%s", products[i].reason);
    return CSRCONV_OK;
}

static int64_t aligned(int64_t bytes)
{
    return (bytes + CODE_ALIGNMENT - 1) / CODE_ALIGNMENT * CODE_ALIGNMENT;
}

static csrconv_status pack(const struct csrconv_jit_tiling *tiling, const struct product *products,
                           int64_t kernels, struct csrconv_memory *memory,
                           struct csrconv_jit_image **image)
{
    const int64_t head =
        aligned((int64_t)sizeof **image + (kernels + 1) * (int64_t)sizeof *(*image)->begin);
    int64_t bytes = head;
    csrconv_status status;
    for (int64_t i = 0; i < kernels; i++)
        bytes += aligned((int64_t)products[i].code.size);
    status = csrconv_allocate(memory, bytes, 1, (void **)image);
    if (status)
        return status;
    memset(*image, 0, (size_t)bytes);
    (*image)->tiling = *tiling;
    (*image)->kernels = kernels;
    (*image)->bytes = bytes;
    (*image)->begin[0] = head;
    for (int64_t i = 0; i < kernels; i++) {
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
    csrconv_team_run(&job->problem->team, job->kernels, make_products, job);
    status = check_products(job->products, job->kernels);
    return status ? status : pack(job->tiling, job->products, job->kernels, memory, image);
}

csrconv_status csrconv_jit_image_make(const struct csrconv_problem *problem,
                                      const struct csrconv_jit_tiling *tiling, int capability,
                                      struct csrconv_memory *memory,
                                      struct csrconv_jit_image **image)
{
    struct csrconv_memory scratch = *memory; /* not the plan's */
    struct csrconv_jit_deal deal = { 0, NULL };
    struct job job = { problem,    tiling,   &deal, csrconv_jit_kernels(&problem->shape, tiling),
                       capability, &scratch, NULL };
    csrconv_status status = csrconv_jit_deal_make(problem, tiling, &scratch, &deal);
    *image = NULL;
    if (!status)
        status =
            csrconv_allocate(&scratch, job.kernels, sizeof *job.products, (void **)&job.products);
    if (!status) {
        memset(job.products, 0, (size_t)job.kernels * sizeof *job.products);
        status = make_image(&job, memory, image);
        for (int64_t i = 0; i < job.kernels; i++)
            csrconv_release(&scratch, job.products[i].code.bytes);
    }
    csrconv_release(&scratch, job.products);
    csrconv_jit_deal_free(&scratch, &deal);
    return status;
}
