#include "computations.h"

#include "complain.h"

#include <math.h>
#include <string.h>

/* One element; a and b are what the attributes say. */
typedef float pointwise(float x, float a, float b);

static int apply(const struct operation *operation, pointwise *function, float a, float b)
{
    const int64_t count = tensor_count(&operation->output);
    const float *const x = operation->inputs[0]->values;
    float *const y = operation->output.values;
    for (int64_t i = 0; i < count; i++)
        y[i] = function(x[i], a, b);
    return EXIT_DONE;
}

static float relu(float x, float a, float b)
{
    (void)a, (void)b;
    return x < 0.0F ? 0.0F : x;
}

static float leaky(float x, float slope, float b)
{
    (void)b;
    return x < 0.0F ? slope * x : x;
}

static float clamp(float x, float low, float high)
{
    return x < low ? low : x > high ? high : x;
}

static float sigmoid(float x, float a, float b)
{
    (void)a, (void)b;
    return 1.0F / (1.0F + expf(-x));
}

static float hyperbolic_tangent(float x, float a, float b)
{
    (void)a, (void)b;
    return tanhf(x);
}

static float hard_sigmoid(float x, float slope, float shift)
{
    return clamp(slope * x + shift, 0.0F, 1.0F);
}

static float hard_swish(float x, float slope, float shift)
{
    return x * hard_sigmoid(x, slope, shift);
}

int relu_compute(const struct operation *operation)
{
    return apply(operation, relu, 0.0F, 0.0F);
}

int leaky_relu_compute(const struct operation *operation)
{
    return apply(operation, leaky, model_attribute_float(operation->node, "alpha", 0.01F), 0.0F);
}

/* A bound is an attribute in old models, an input in newer ones. */
static int clip_bound(const struct operation *operation, const char *attribute, size_t input,
                      float *bound)
{
    const struct tensor *const t = operation_input(operation, input);
    *bound = model_attribute_float(operation->node, attribute, *bound);
    if (!t)
        return EXIT_DONE;
    if (tensor_count(t) != 1)
        return operation_complain(operation, EXIT_REFUSED, "its %s is not one float", attribute);
    *bound = t->values[0];
    return EXIT_DONE;
}

int clip_compute(const struct operation *operation)
{
    float low = -INFINITY, high = INFINITY;
    int code = clip_bound(operation, "min", 1, &low);
    if (!code)
        code = clip_bound(operation, "max", 2, &high);
    return code ? code : apply(operation, clamp, low, high);
}

int sigmoid_compute(const struct operation *operation)
{
    return apply(operation, sigmoid, 0.0F, 0.0F);
}

int tanh_compute(const struct operation *operation)
{
    return apply(operation, hyperbolic_tangent, 0.0F, 0.0F);
}

int hard_sigmoid_compute(const struct operation *operation)
{
    return apply(operation, hard_sigmoid, model_attribute_float(operation->node, "alpha", 0.2F),
                 model_attribute_float(operation->node, "beta", 0.5F));
}

int hard_swish_compute(const struct operation *operation)
{
    return apply(operation, hard_swish, 1.0F / 6.0F, 0.5F);
}

int copy_compute(const struct operation *operation)
{
    memcpy(operation->output.values, operation->inputs[0]->values,
           (size_t)tensor_count(&operation->output) * sizeof(float));
    return EXIT_DONE;
}
