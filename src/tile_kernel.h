/*
 * The body of the blocked kernels, for a file that has defined, for its instruction set: the type
 * `vector`, the functions load (unaligned), store (aligned), broadcast and multiply_add, TARGET
 * (the attribute that enables the instructions), and the number of LANES.
 */

/* Loops over the registers of a tile must be unrolled, or the sums would live in memory. */
#if defined(__clang__)
#define UNROLLED _Pragma("clang loop unroll(full)")
#else
#define UNROLLED _Pragma("GCC unroll 32")
#endif

enum { MOST_VECTORS_OF_ANY = 32, LINE_FLOATS = 16 };

static inline __attribute__((always_inline)) TARGET void
tile_body(const int vectors, const float *inputs, const struct csrconv_nonzero *begin,
          const struct csrconv_nonzero *end, const float *start, float bias, float *to,
          const float *next)
{
    vector sums[MOST_VECTORS_OF_ANY];
    if (start) {
        UNROLLED
        for (int i = 0; i < vectors; i++)
            sums[i] = load(start + i * LANES);
    } else {
        UNROLLED
        for (int i = 0; i < vectors; i++)
            sums[i] = broadcast(bias);
    }
    UNROLLED
    for (int i = 0; i < vectors * LANES; i += LINE_FLOATS)
        __builtin_prefetch(next + i);
    for (const struct csrconv_nonzero *nonzero = begin; nonzero < end; nonzero++) {
        const float *input = inputs + nonzero->offset;
        const vector value = broadcast(nonzero->value);
        UNROLLED
        for (int i = 0; i < vectors; i++)
            sums[i] = multiply_add(value, load(input + i * LANES), sums[i]);
    }
    UNROLLED
    for (int i = 0; i < vectors; i++)
        store(to + i * LANES, sums[i]);
}

#define DEFINE_TILE_KERNEL(name, vectors)                                                          \
    static TARGET void name(const float *inputs, const struct csrconv_nonzero *begin,              \
                            const struct csrconv_nonzero *end, const float *start, float bias,     \
                            float *to, const float *next)                                          \
    {                                                                                              \
        tile_body(vectors, inputs, begin, end, start, bias, to, next);                             \
    }

static TARGET void finish(const float *from, const float *residual, float lo, float hi,
                          int64_t count, float *to)
{
    const vector low = broadcast(lo), high = broadcast(hi);
    for (int64_t i = 0; i < count; i += LANES) {
        const int64_t some = count - i < LANES ? count - i : LANES;
        vector x = load_some(from + i, some);
        if (residual)
            x = add(x, load_some(residual + i, some));
        store_some(to + i, smallest(high, largest(low, x)), some);
    }
}
