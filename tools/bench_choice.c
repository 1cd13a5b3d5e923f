#include "bench_parts.h"

#include "complain.h"
#include "report/text.h"

#include <stdio.h>

/* As it stands in a file of choices. */
struct layer {
    char name[PROBLEM_TEXT_SIZE];
};

static struct layer layer_of(const struct bench *b)
{
    const char *const name = b->point->problem->name;
    struct layer layer;
    snprintf(layer.name, sizeof layer.name, "%s", name[0] ? name : b->descriptor);
    text_clean(layer.name);
    return layer;
}

static csrconv_plan_options options_of(const struct bench *b)
{
    csrconv_plan_options options;
    csrconv_plan_options_init(&options);
    options.device = b->request->device;
    options.ordinal = b->request->ordinal;
    options.threads = b->threads;
    return options;
}

/* By a saved choice; NULL if none of the layer's fits, and the last one says why. */
static csrconv_plan *plan_as_saved(const struct bench *b)
{
    const struct layer layer = layer_of(b);
    csrconv_plan_options options = options_of(b);
    csrconv_plan *plan = NULL;
    size_t next = 0;
    const char *why = "there is none of this layer";
    while (!plan && (options.choice = choices_find(b->request->loaded, layer.name, &next)))
        if (csrconv_plan_create(b->workload.weights, &b->workload.geometry, &options, &plan))
            why = csrconv_last_error();
    if (!plan)
        fprintf(stderr, "warning: %s: no saved choice fits: %s\n", layer.name, why);
    return plan;
}

static csrconv_plan *plan_by_itself(const struct bench *b)
{
    csrconv_plan_options options = options_of(b);
    csrconv_plan *plan;
    options.tune = b->request->is_tuned;
    return csrconv_plan_create(b->workload.weights, &b->workload.geometry, &options, &plan) ? NULL
                                                                                            : plan;
}

static int save(const struct bench *b, const csrconv_plan *plan)
{
    const struct layer layer = layer_of(b);
    char choice[CSRCONV_CHOICE_BYTES];
    if (csrconv_plan_choice(plan, choice, sizeof choice))
        return complain(EXIT_WRONG, layer.name, "%s", csrconv_last_error());
    return choices_add(b->request->saved, layer.name, choice);
}

int bench_find_choice(struct bench *b)
{
    csrconv_plan_info info = { .struct_size = sizeof info };
    csrconv_algorithm_info algorithm = { .struct_size = sizeof algorithm };
    csrconv_plan *plan = b->request->loaded ? plan_as_saved(b) : NULL;
    int code;
    b->chosen[0] = '\0';
    if (!plan)
        plan = plan_by_itself(b);
    if (!plan)
        return EXIT_DONE;
    csrconv_plan_describe(plan, &info);
    csrconv_algorithm_describe(info.algorithm, &algorithm);
    snprintf(b->chosen, sizeof b->chosen, "%s", algorithm.name);
    code = b->request->saved ? save(b, plan) : EXIT_DONE;
    csrconv_plan_destroy(&plan);
    return code;
}
