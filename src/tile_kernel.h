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

enum { MOST_VECTORS_OF_ANY = 32 };

static inline __attribute__((always_inline)) TARGET void
tile_body(const int vectors, const float *inputs, const struct csrconv_nonzero *begin,
          const struct csrconv_nonzero *end, const float *start, float bias, float *to)
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
                            float *to)                                                             \
    {                                                                                              \
        tile_body(vectors, inputs, begin, end, start, bias, to);                                   \
    }
