#include "problems_input.h"

#include "complain.h"
#include "model_problems.h"
#include "problem/descriptor.h"
#include "problem/network.h"

#include <sys/stat.h>

static const double usual_sparsity = 0.9;

static int load_argument(const struct problems_request *request, const char *argument,
                         struct problem_list *list)
{
    struct stat status;
    if (argument[0] != '@' && stat(argument, &status) == 0)
        return model_problems(argument, request->input_shape, request->folds, list);
    return descriptor_load(argument, list);
}

int problems_input(const struct problems_request *request, struct problem_list *list)
{
    int code = EXIT_DONE;
    for (size_t i = 0; i < request->arguments->count && !code; i++)
        code = load_argument(request, request->arguments->items[i], list);
    if (!code && request->network)
        code = network_load(network_directories, request->network, request->all_layers, list);
    return code;
}

static int count_of(size_t given)
{
    return given ? (int)given : 1;
}

int problem_points(const struct whole_list *batches, const struct real_list *sparsities)
{
    return count_of(batches->count) * count_of(sparsities->count);
}

int problem_point(const struct problem *problem, const struct whole_list *batches,
                  const struct real_list *sparsities, int index, struct problem_point *point)
{
    const int across = count_of(sparsities->count);
    const size_t batch = (size_t)(index / across), sparsity = (size_t)(index % across);
    point->problem = problem;
    point->geometry = problem->geometry;
    if (batches->count)
        point->geometry.batch = batches->items[batch];
    point->sparsity = sparsities->count        ? sparsities->items[sparsity]
                      : problem->sparsity >= 0 ? problem->sparsity
                                               : usual_sparsity;
    point->asked = sparsities->count ? point->sparsity : 0.0;
    if (csrconv_output_size(&point->geometry, NULL, NULL))
        return complain(EXIT_BAD, problem->name, "%s", csrconv_last_error());
    return EXIT_DONE;
}
