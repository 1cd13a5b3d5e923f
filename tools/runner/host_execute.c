#include "host_execute.h"

#include "complain.h"
#include "place.h"
#include "selection.h"

#include <stddef.h>

/* The tensors where the plan wants them. */
struct copies {
    const struct place *place;
    void *in, *residual, *out, *workspace;
};

static size_t bytes_of(const struct tensor *tensor)
{
    return (size_t)tensor_count(tensor) * sizeof(float);
}

static bool is_host(const struct copies *c)
{
    return c->place->device == CSRCONV_DEVICE_CPU;
}

static int take_room(const struct copies *c, size_t bytes, void **out)
{
    *out = c->place->allocate(bytes);
    if (!*out)
        return complain(EXIT_WRONG, "memory", "no room for %zu bytes where the plan runs", bytes);
    return EXIT_DONE;
}

static int copy_in(const struct copies *c, const struct tensor *tensor, void **out)
{
    const size_t bytes = bytes_of(tensor);
    const int code = take_room(c, bytes, out);
    return code ? code : c->place->upload(*out, tensor->values, bytes);
}

static int copy_all_in(struct copies *c, const struct tensor *in, const struct tensor *residual,
                       struct tensor *out)
{
    int code;
    if (is_host(c)) {
        c->in = in->values;
        c->residual = residual ? residual->values : NULL;
        c->out = out->values;
        return EXIT_DONE;
    }
    if ((code = copy_in(c, in, &c->in)) ||
        (residual && (code = copy_in(c, residual, &c->residual))))
        return code;
    return take_room(c, bytes_of(out), &c->out);
}

static void release_all(const struct copies *c)
{
    void *const copies[] = { c->in, c->residual, c->out };
    for (size_t i = 0; !is_host(c) && i < sizeof copies / sizeof *copies; i++)
        if (copies[i])
            c->place->release(copies[i]);
    if (c->workspace)
        c->place->release(c->workspace);
}

static int execute(const csrconv_plan *plan, size_t workspace, int64_t batch, struct copies *c)
{
    int code = workspace ? take_room(c, workspace, &c->workspace) : EXIT_DONE;
    if (code)
        return code;
    const csrconv_status status = csrconv_execute_residual(
        plan, batch, c->in, c->residual, c->out, c->workspace, workspace, c->place->stream());
    return status ? selection_complain("execute", status) : c->place->finish();
}

int host_execute(const csrconv_plan *plan, int64_t batch, const struct tensor *in,
                 const struct tensor *residual, struct tensor *out)
{
    csrconv_plan_info info = { .struct_size = sizeof info };
    csrconv_plan_describe(plan, &info);
    struct copies c = { .place = place_of(info.device) };
    int code = c.place->select(info.ordinal);
    if (!code)
        code = copy_all_in(&c, in, residual, out);
    if (!code)
        code = execute(plan, info.workspace_bytes, batch, &c);
    if (!code && !is_host(&c))
        code = c.place->download(out->values, c.out, bytes_of(out));
    release_all(&c);
    return code;
}
