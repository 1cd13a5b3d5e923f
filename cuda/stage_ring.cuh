/*
 * A ring of stages in shared memory between warps that fill it and warps that read it. Each stage
 * has two barriers: full, which the producers' copies complete, and empty, at which every consumer
 * warp says that it is done. Warps wait for a stage, never for one another, so they may drift apart
 * by as many stages as the ring holds.
 *
 * From sm_80 on copies are asynchronous and the barriers are the hardware's; before, copies pass
 * through registers and the barriers count in shared memory.
 */
#ifndef CSRCONV_CUDA_STAGE_RING_CUH
#define CSRCONV_CUDA_STAGE_RING_CUH

#include <stdint.h>

namespace csrconv
{

struct stage_ring {
    uint64_t *full, *empty; /* in shared memory, a barrier for each stage of the ring */
    int producers;          /* threads */
    int consumers;          /* warps */
};

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800

static __device__ __forceinline__ unsigned shared_address(const void *at)
{
    return static_cast<unsigned>(__cvta_generic_to_shared(at));
}

static __device__ __forceinline__ void barrier_init(uint64_t *barrier, int count)
{
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(count)
                 : "memory");
}

/* Until the phase of that parity, counted from 0, is complete. */
static __device__ __forceinline__ void barrier_wait(uint64_t *barrier, unsigned parity)
{
    unsigned done = 0;
    while (!done)
        asm volatile("{\n"
                     ".reg .pred p;\n"
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
                     "mbarrier.try_wait.parity.shared.b64 p, [%1], %2;\n"
#else
                     "mbarrier.test_wait.parity.shared.b64 p, [%1], %2;\n"
#endif
                     "selp.u32 %0, 1, 0, p;\n"
                     "}"
                     : "=r"(done)
                     : "r"(shared_address(barrier)), "r"(parity)
                     : "memory");
}

static __device__ __forceinline__ void barrier_arrive(uint64_t *barrier)
{
    asm volatile("{\n"
                 ".reg .b64 state;\n"
                 "mbarrier.arrive.shared.b64 state, [%0];\n"
                 "}" ::"r"(shared_address(barrier))
                 : "memory");
}

/* Arrives once the copies that this thread has begun are done. */
static __device__ __forceinline__ void barrier_arrive_by_copies(uint64_t *barrier)
{
    asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(shared_address(barrier))
                 : "memory");
}

template <int FLOATS>
static __device__ __forceinline__ void copy_floats(float *to, const float *from)
{
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(shared_address(to)), "l"(from),
                 "n"(FLOATS * 4)
                 : "memory");
}

#else

/* Arrivals in the lower half, how many make a phase in the upper. */
static __device__ __forceinline__ void barrier_init(uint64_t *barrier, int count)
{
    *barrier = static_cast<uint64_t>(count) << 32;
}

static __device__ __forceinline__ void barrier_wait(uint64_t *barrier, unsigned parity)
{
    const volatile unsigned *words = reinterpret_cast<const volatile unsigned *>(barrier);
    while ((words[0] / words[1] & 1) == parity) {
    }
    __threadfence_block();
}

static __device__ __forceinline__ void barrier_arrive(uint64_t *barrier)
{
    __threadfence_block();
    atomicAdd(reinterpret_cast<unsigned *>(barrier), 1U);
}

static __device__ __forceinline__ void barrier_arrive_by_copies(uint64_t *barrier)
{
    barrier_arrive(barrier);
}

template <int FLOATS>
static __device__ __forceinline__ void copy_floats(float *to, const float *from)
{
    if (FLOATS == 4)
        *reinterpret_cast<float4 *>(to) = *reinterpret_cast<const float4 *>(from);
    else if (FLOATS == 2)
        *reinterpret_cast<float2 *>(to) = *reinterpret_cast<const float2 *>(from);
    else
        *to = *from;
}

#endif

/* By one thread, before a __syncthreads of the block. */
static __device__ __forceinline__ void ring_init(const stage_ring &ring, int stages)
{
    for (int i = 0; i < stages; i++) {
        barrier_init(&ring.full[i], ring.producers);
        barrier_init(&ring.empty[i], ring.consumers);
    }
}

} // namespace csrconv

#endif
