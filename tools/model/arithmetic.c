#include "computations.h"

#include "complain.h"

#include <string.h>

/* The size along an axis of the output: 1 along those that the shorter shape lacks in front. */
static int64_t size_at(const struct tensor *t, int rank, int axis)
{
    const int own = axis - (rank - t->rank);
    return own < 0 ? 1 : t->dims[own];
}

/* Old models say where the second input is to be put: other rules than those of today. */
static int check_broadcast(const struct operation *operation)
{
    if (operation->model->opset < 7 && model_attribute_int(operation->node, "broadcast", 0))
        return operation_complain(operation, EXIT_REFUSED,
                                  "broadcast of operator sets before 7 is not supported");
    return EXIT_DONE;
}

/* How far the next element along each axis of the output is; 0 where one element serves all. */
static void find_steps(const struct tensor *t, const struct tensor *output,
                       int64_t steps[TENSOR_MAX_RANK])
{
    int64_t step = 1;
    for (int i = output->rank - 1; i >= 0; i--) {
        const int64_t size = size_at(t, output->rank, i);
        steps[i] = size == 1 ? 0 : step;
        step *= size;
    }
}

typedef float binary(float a, float b);

struct broadcast {
    binary *function;
    const struct tensor *output;
    int64_t a_steps[TENSOR_MAX_RANK], b_steps[TENSOR_MAX_RANK];
};

/* Goes through the axes from this one on; returns where the output goes on. */
static float *apply(const struct broadcast *x, int axis, const float *a, const float *b, float *y)
{
    if (axis == x->output->rank) {
        *y = x->function(*a, *b);
        return y + 1;
    }
    for (int64_t i = 0; i < x->output->dims[axis]; i++)
        y = apply(x, axis + 1, a + i * x->a_steps[axis], b + i * x->b_steps[axis], y);
    return y;
}

static int compute(const struct operation *operation, binary *function)
{
    struct broadcast x = { .function = function, .output = &operation->output };
    const int code = check_broadcast(operation);
    if (code)
        return code;
    find_steps(operation->inputs[0], x.output, x.a_steps);
    find_steps(operation->inputs[1], x.output, x.b_steps);
    apply(&x, 0, operation->inputs[0]->values, operation->inputs[1]->values,
          operation->output.values);
    return EXIT_DONE;
}

static float add(float a, float b)
{
    return a + b;
}

static float subtract(float a, float b)
{
    return a - b;
}

static float multiply(float a, float b)
{
    return a * b;
}

static float divide(float a, float b)
{
    return a / b;
}

int add_compute(const struct operation *operation)
{
    return compute(operation, add);
}

int sub_compute(const struct operation *operation)
{
    return compute(operation, subtract);
}

int mul_compute(const struct operation *operation)
{
    return compute(operation, multiply);
}

int div_compute(const struct operation *operation)
{
    return compute(operation, divide);
}

/* Of any number of inputs, each added to those before it. */
int sum_compute(const struct operation *operation)
{
    const struct tensor *const y = &operation->output;
    struct broadcast x = { .function = add, .output = y };
    find_steps(y, y, x.a_steps);
    memset(y->values, 0, (size_t)tensor_count(y) * sizeof *y->values);
    for (size_t i = 0; i < operation->node->input_count; i++) {
        const struct tensor *const term = operation->inputs[i];
        if (!term) /* left out */
            continue;
        find_steps(term, y, x.b_steps);
        apply(&x, 0, y->values, term->values, y->values);
    }
    return EXIT_DONE;
}
