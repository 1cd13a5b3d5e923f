/* How a warp of cuda_tiled stores its sums. */
#ifndef CSRCONV_CUDA_TILED_STORE_CUH
#define CSRCONV_CUDA_TILED_STORE_CUH

#include "tiled_args.cuh"

/* Where an output of the tile goes, counted from filter 0; -1: nowhere. */
static __device__ __forceinline__ int64_t output_of(const tiled_args &a, const block_place &b,
                                                    int place)
{
    const int image = place >> 20, row = place >> 10 & 1023, column = place & 1023;
    const int64_t y = b.row + row, x = b.column + column;
    if (place < 0 || image >= b.images || y >= a.out_h || x >= a.out_w)
        return -1;
    return (b.image + image) * a.out_stride + y * a.out_w + x;
}

/*
 * All sums of a lane, straight-line: short code matters, as each warp runs through it once. The
 * activation's bounds and a bias of 0 do no harm where there is none.
 */
template <int FILTERS, int PIXELS, bool HAS_RESIDUAL>
static __device__ void store_by(const tiled_args &a, const int64_t (&pixels)[PIXELS],
                                const int64_t *list, const float (&sums)[FILTERS][PIXELS])
{
    const uint64_t policy = csrconv::store_policy(a.is_streaming);
    const csrconv::epilogue &e = a.epilogue;
#pragma unroll
    for (int f = 0; f < FILTERS; f++) {
        const int64_t filter = __ldg(list + f), plane = filter * a.out_plane;
        if (filter < 0)
            continue;
        const float bias = e.bias ? __ldg(e.bias + filter) : 0.0F;
#pragma unroll
        for (int j = 0; j < PIXELS; j++) {
            if (pixels[j] < 0)
                continue;
            float x = sums[f][j] + bias;
            if (HAS_RESIDUAL)
                x += __ldg(e.residual + plane + pixels[j]);
            csrconv::store_float(a.out + plane + pixels[j], csrconv::clamp(x, e.lo, e.hi), policy);
        }
    }
}

template <int FILTERS, int PIXELS>
static __device__ void store(const tiled_args &a, const block_place &b, const int32_t *places,
                             const int64_t *list, const float (&sums)[FILTERS][PIXELS])
{
    int64_t pixels[PIXELS];
#pragma unroll
    for (int j = 0; j < PIXELS; j++)
        pixels[j] = output_of(a, b, __ldg(places + j * WARP));
    if (a.epilogue.residual)
        store_by<FILTERS, PIXELS, true>(a, pixels, list, sums);
    else
        store_by<FILTERS, PIXELS, false>(a, pixels, list, sums);
}

#endif
