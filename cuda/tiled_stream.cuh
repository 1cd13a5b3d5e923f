/* How a warp of cuda_tiled reads its weights. */
#ifndef CSRCONV_CUDA_TILED_STREAM_CUH
#define CSRCONV_CUDA_TILED_STREAM_CUH

#include "stage_ring.cuh"
#include "tiled_args.cuh"

/*
 * A warp's stream of quads. STAGED: the warp copies it ahead, STREAM_PART quads at a time, into a
 * buffer of two such parts in shared memory. Otherwise each quad is loaded from memory when it is
 * wanted: the ablation.
 */
template <bool STAGED> struct quad_stream {
    enum : unsigned { PART_BYTES = STREAM_PART * sizeof(int4), BYTES = 2 * PART_BYTES };

    const int4 *from; /* what has not been copied yet */
    char *buffer;
    unsigned at; /* of the quad in `next_quad`, in bytes */
    int4 next_quad;

    __device__ __forceinline__ quad_stream(const int4 *quads, int4 *parts)
        : from(quads), buffer(reinterpret_cast<char *>(parts)), at(0)
    {
    }

    /* Begins the first copy; long before start. */
    __device__ __forceinline__ void begin()
    {
        if (STAGED)
            copy_part(0);
    }

    /* Once before the first next. */
    __device__ __forceinline__ void start()
    {
        if (STAGED)
            turn();
    }

    __device__ __forceinline__ int4 next()
    {
        if (!STAGED)
            return __ldg(from++);
        const int4 quad = *reinterpret_cast<const int4 *>(buffer + at);
        at = (at + sizeof(int4)) % BYTES;
        if (at % PART_BYTES == 0)
            turn();
        return quad;
    }

  private:
    /* The part that begins at `at` is wanted: it must be there, and the other one is read. */
    __device__ __forceinline__ void turn()
    {
        csrconv::copies_wait();
        __syncwarp();
        copy_part(at ^ PART_BYTES);
    }

    __device__ __forceinline__ void copy_part(unsigned to)
    {
        const unsigned lane = threadIdx.x % WARP;
        csrconv::copy_floats<4>(reinterpret_cast<float *>(buffer + to + lane * sizeof(int4)),
                                reinterpret_cast<const float *>(from + lane));
        csrconv::copies_commit();
        from += STREAM_PART;
    }
};

#endif
