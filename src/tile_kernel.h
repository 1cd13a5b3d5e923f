/*
 * The body of the blocked kernels, for a file that has defined, for its instruction set: the type
 * `vector`, the functions load (unaligned), store (aligned), store_unaligned, store_streamed
 * (aligned), load_some and store_some (of as many lanes), broadcast, add, smallest, largest and
 * multiply_add, TARGET (the attribute that enables the instructions), and the number of LANES.
 */

/* Loops over the registers of a tile must be unrolled, or the sums would live in memory. */
#if defined(__clang__)
#define UNROLLED _Pragma("clang loop unroll(full)")
#else
#define UNROLLED _Pragma("GCC unroll 32")
#endif

enum { MOST_VECTORS_OF_ANY = 32 };

/*
 * A multiply-add takes four cycles, and two of them start in each; so the sums of few vectors would
 * wait for themselves, and get a second set for every other nonzero.
 */
enum { LATENCY_VECTORS = 4 };

/* is_cut: of a tile of one vector, which there may be no input behind. */
static inline __attribute__((always_inline)) TARGET void
add_nonzero(const int vectors, const bool is_cut, const struct csrconv_tile_place *place,
            const struct csrconv_nonzero *nonzero, vector *sums)
{
    const int half = (vectors + 1) / 2;
    const float *const first = place->first + nonzero->offset;
    const float *const second = place->second + nonzero->offset;
    const vector value = broadcast(nonzero->value);
    UNROLLED
    for (int i = 0; i < vectors; i++) {
        const float *input = i < half ? first + i * LANES : second + (i - half) * LANES;
        const vector x = is_cut ? load_some(input, place->count) : load(input);
        sums[i] = multiply_add(value, x, sums[i]);
    }
}

static inline __attribute__((always_inline)) TARGET void
add_nonzeros(const int vectors, const bool is_cut, const struct csrconv_tile_place *place,
             const struct csrconv_nonzero *begin, const struct csrconv_nonzero *end, vector *sums)
{
    const struct csrconv_nonzero *nonzero = begin;
    if (vectors <= LATENCY_VECTORS) {
        vector odd[LATENCY_VECTORS];
        UNROLLED
        for (int i = 0; i < vectors; i++)
            odd[i] = broadcast(-0.0F); /* adds nothing, to a zero of either sign too */
        for (; end - nonzero > 1; nonzero += 2) {
            add_nonzero(vectors, is_cut, place, nonzero, sums);
            add_nonzero(vectors, is_cut, place, nonzero + 1, odd);
        }
        UNROLLED
        for (int i = 0; i < vectors; i++)
            sums[i] = add(sums[i], odd[i]);
    }
    for (; nonzero < end; nonzero++)
        add_nonzero(vectors, is_cut, place, nonzero, sums);
}

static inline __attribute__((always_inline)) TARGET void
tile_body(const int vectors, const struct csrconv_tile_place *place,
          const struct csrconv_nonzero *begin, const struct csrconv_nonzero *end,
          const float *start, float bias, float *to, const float *next)
{
    const int half = (vectors + 1) / 2;
    float *const second_to = to + place->second_sums;
    vector sums[MOST_VECTORS_OF_ANY];
    if (start) {
        const float *second_start = start + place->second_sums;
        UNROLLED
        for (int i = 0; i < vectors; i++)
            sums[i] = load(i < half ? start + i * LANES : second_start + (i - half) * LANES);
    } else {
        UNROLLED
        for (int i = 0; i < vectors; i++)
            sums[i] = broadcast(bias);
    }
    UNROLLED
    for (int i = 0; i < half * LANES; i += CSRCONV_LINE_FLOATS)
        __builtin_prefetch(next + i);
    UNROLLED
    for (int i = 0; i < (vectors - half) * LANES; i += CSRCONV_LINE_FLOATS)
        __builtin_prefetch(next + place->second_sums + i);
    if (vectors == 1 && place->count < LANES)
        add_nonzeros(vectors, true, place, begin, end, sums);
    else
        add_nonzeros(vectors, false, place, begin, end, sums);
    UNROLLED
    for (int i = 0; i < half; i++)
        store(to + i * LANES, sums[i]);
    UNROLLED
    for (int i = half; i < vectors; i++)
        store_unaligned(second_to + (i - half) * LANES, sums[i]);
}

#define DEFINE_TILE_KERNEL(name, vectors)                                                          \
    static TARGET void name(const struct csrconv_tile_place *place,                                \
                            const struct csrconv_nonzero *begin,                                   \
                            const struct csrconv_nonzero *end, const float *start, float bias,     \
                            float *to, const float *next)                                          \
    {                                                                                              \
        tile_body(vectors, place, begin, end, start, bias, to, next);                              \
    }

static inline TARGET vector finished(vector x, const float *residual, int64_t count, vector low,
                                     vector high)
{
    if (residual)
        x = add(x, count == LANES ? load(residual) : load_some(residual, count));
    return smallest(high, largest(low, x));
}

/* The last vector overlaps the one before, rather than being cut, where there is one. */
static TARGET void finish(const float *from, const float *residual, float lo, float hi,
                          int64_t count, float *to)
{
    const vector low = broadcast(lo), high = broadcast(hi);
    if (count < LANES) {
        store_some(to, finished(load_some(from, count), residual, count, low, high), count);
        return;
    }
    for (int64_t i = 0; i < count; i += LANES) {
        const int64_t at = i < count - LANES ? i : count - LANES;
        const vector x =
            finished(load(from + at), residual ? residual + at : NULL, LANES, low, high);
        store_unaligned(to + at, x);
    }
}

/* Whole lines past the caches; what is left of a line at either end goes through them. */
static TARGET void finish_streamed(const float *from, const float *residual, float lo, float hi,
                                   int64_t count, float *to)
{
    const vector low = broadcast(lo), high = broadcast(hi);
    const int64_t in_line = (int64_t)((uintptr_t)to / sizeof *to % CSRCONV_LINE_FLOATS);
    const int64_t head = (CSRCONV_LINE_FLOATS - in_line) % CSRCONV_LINE_FLOATS;
    const int64_t end = count - (count - head) % CSRCONV_LINE_FLOATS;
    if (count < 2 * CSRCONV_LINE_FLOATS) {
        finish(from, residual, lo, hi, count, to);
        return;
    }
    finish(from, residual, lo, hi, head, to);
    for (int64_t i = head; i < end; i += LANES)
        store_streamed(to + i,
                       finished(load(from + i), residual ? residual + i : NULL, LANES, low, high));
    finish(from + end, residual ? residual + end : NULL, lo, hi, count - end, to + end);
}

static void settle(void)
{
    _mm_sfence();
}
