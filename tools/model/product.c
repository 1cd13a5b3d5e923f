#include "computations.h"

#include "complain.h"

/* A matrix in memory: how far apart its neighbours are along each axis; 0 repeats one. */
struct matrix {
    const float *values;
    int64_t row_step, column_step;
};

/* y = a b, rows by inner by columns; y is plain. */
static void multiply(struct matrix a, struct matrix b, int64_t rows, int64_t inner, int64_t columns,
                     float *y)
{
    for (int64_t i = 0; i < rows; i++)
        for (int64_t k = 0; k < columns; k++) {
            const float *x = a.values + i * a.row_step, *w = b.values + k * b.column_step;
            double total = 0.0;
            for (int64_t j = 0; j < inner; j++, x += a.column_step, w += b.row_step)
                total += (double)*x * (double)*w;
            *y++ = (float)total;
        }
}

/* ----------------------------------------------------------------------------------------- Gemm */

static struct matrix gemm_factor(const struct operation *operation, size_t index, const char *flag)
{
    const struct tensor *const t = operation->inputs[index];
    if (model_attribute_int(operation->node, flag, 0))
        return (struct matrix){ t->values, 1, t->dims[1] };
    return (struct matrix){ t->values, t->dims[1], 1 };
}

/* The size along a row (0) or a column (1) of a factor, or with the flag the other one. */
static int64_t gemm_size(const struct operation *operation, size_t index, const char *flag,
                         int axis)
{
    const int turned = model_attribute_int(operation->node, flag, 0) != 0;
    return operation->inputs[index]->dims[axis ^ turned];
}

/* C is a matrix, a row, a column or one number. */
static int gemm_addend(const struct operation *operation, struct matrix *out)
{
    const struct tensor *const c = operation_input(operation, 2);
    const int64_t *const want = operation->output.dims;
    *out = (struct matrix){ 0 };
    if (!c)
        return EXIT_DONE;
    const int64_t columns = c->rank > 0 ? c->dims[c->rank - 1] : 1;
    const int64_t rows = c->rank > 1 ? c->dims[c->rank - 2] : 1;
    if (c->rank > 2 || (rows != 1 && rows != want[0]) || (columns != 1 && columns != want[1]))
        return operation_complain(operation, EXIT_BAD, "input 2 does not go with its output");
    *out = (struct matrix){ c->values, rows == 1 ? 0 : columns, columns == 1 ? 0 : 1 };
    return EXIT_DONE;
}

int gemm_compute(const struct operation *operation)
{
    const float alpha = model_attribute_float(operation->node, "alpha", 1.0F);
    const float beta = model_attribute_float(operation->node, "beta", 1.0F);
    const int64_t rows = operation->output.dims[0], columns = operation->output.dims[1];
    float *y = operation->output.values;
    struct matrix addend;
    const int code = gemm_addend(operation, &addend);
    if (code)
        return code;
    multiply(gemm_factor(operation, 0, "transA"), gemm_factor(operation, 1, "transB"), rows,
             gemm_size(operation, 0, "transA", 1), columns, y);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t k = 0; k < columns; k++, y++) {
            const int64_t place = i * addend.row_step + k * addend.column_step;
            *y = alpha * *y + (addend.values ? beta * addend.values[place] : 0.0F);
        }
    return EXIT_DONE;
}

/* --------------------------------------------------------------------------------------- MatMul */

/* Matrices of the last two axes: those of the first input each by their own, or all by one. */
static int check_matmul(const struct operation *operation)
{
    const struct tensor *const a = operation->inputs[0], *const b = operation->inputs[1];
    char first[TENSOR_SHAPE_TEXT], second[TENSOR_SHAPE_TEXT];
    bool fits = b->rank == 2 || b->rank == a->rank;
    for (int i = 0; fits && b->rank > 2 && i < a->rank - 2; i++)
        fits = a->dims[i] == b->dims[i];
    if (fits)
        return EXIT_DONE;
    return operation_complain(operation, EXIT_REFUSED, "%s by %s is not supported",
                              tensor_shape_text(a->rank, a->dims, first),
                              tensor_shape_text(b->rank, b->dims, second));
}

int matmul_compute(const struct operation *operation)
{
    const struct tensor *const a = operation->inputs[0], *const b = operation->inputs[1];
    const int code = check_matmul(operation);
    if (code)
        return code;
    const int64_t count = tensor_outer(a, a->rank - 2);
    const int64_t rows = a->dims[a->rank - 2], inner = a->dims[a->rank - 1];
    const int64_t columns = b->dims[b->rank - 1];
    const int64_t b_step = b->rank == 2 ? 0 : inner * columns;
    for (int64_t i = 0; i < count; i++)
        multiply((struct matrix){ a->values + i * rows * inner, inner, 1 },
                 (struct matrix){ b->values + i * b_step, columns, 1 }, rows, inner, columns,
                 operation->output.values + i * rows * columns);
    return EXIT_DONE;
}
