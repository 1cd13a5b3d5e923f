#include "jit_build.h"

#include "jit_compile.h"
#include "jit_ptx.h"

#include <stdio.h>
#include <string.h>

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

static csrconv_status pack(const struct csrconv_jit_tiling *tiling, const struct product *products,
                           int64_t kernels, struct csrconv_memory *memory,
                           struct csrconv_jit_image **image)
{
    int64_t room = 0;
    csrconv_status status;
    for (int64_t i = 0; i < kernels; i++)
        room += csrconv_jit_code_room((int64_t)products[i].code.size);
    status = csrconv_jit_image_make(tiling, kernels, room, memory, image);
    for (int64_t i = 0; i < kernels && !status; i++)
        csrconv_jit_image_add(*image, products[i].code.bytes, (int64_t)products[i].code.size);
    return status;
}

static csrconv_status make_image(struct job *job, struct csrconv_memory *memory,
                                 struct csrconv_jit_image **image)
{
    csrconv_status status;
    csrconv_team_run(&job->problem->team, job->kernels, make_products, job);
    status = check_products(job->products, job->kernels);
    return status ? status : pack(job->tiling, job->products, job->kernels, memory, image);
}

csrconv_status csrconv_jit_build(const struct csrconv_problem *problem,
                                 const struct csrconv_jit_tiling *tiling, int capability,
                                 struct csrconv_memory *memory, struct csrconv_jit_image **image)
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
