/*
 * A ring of stages in shared memory between warps that fill it and warps that read it. All threads
 * fill the first round together, as there is nothing to read yet; then the producers go on alone.
 * Each place in the ring has three barriers: first, which the copies of the first round complete;
 * full, which those of the producers do; and empty, at which every consumer warp says that it is
 * done. Warps wait for a stage, never for one another, so they may drift apart by as many stages as
 * the ring holds.
 *
 * From sm_80 on copies are asynchronous and the barriers are the hardware's; before, copies pass
 * through registers and the barriers count in shared memory.
 */
#ifndef CSRCONV_CUDA_STAGE_RING_CUH
#define CSRCONV_CUDA_STAGE_RING_CUH

#include <stdint.h>

namespace csrconv
{

/* In shared memory, a barrier for each place in the ring. */
struct stage_ring {
    uint64_t *first, *full, *empty;
};

/* A stage's place in the ring and how often the ring went round before it. */
struct ring_place {
    int slot, round;

    __device__ void step(int places)
    {
        if (++slot == places) {
            slot = 0;
            round++;
        }
    }
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

/* Whether the phase of that parity, counted from 0, is complete; may wait a while. */
static __device__ __forceinline__ bool barrier_test(uint64_t *barrier, unsigned parity)
{
    unsigned done;
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
    return done;
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

/* Ends the group of the copies begun so far by this thread. */
static __device__ __forceinline__ void copies_commit()
{
    asm volatile("cp.async.commit_group;" ::: "memory");
}

/* Until all groups that this thread has ended are there. */
static __device__ __forceinline__ void copies_wait()
{
    asm volatile("cp.async.wait_group 0;" ::: "memory");
}

template <int FLOATS>
static __device__ __forceinline__ void copy_floats(float *to, const float *from)
{
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(shared_address(to)), "l"(from),
                 "n"(FLOATS * 4)
                 : "memory");
}

/* Begins to copy a float, or to store zero; `from` is an address in either case. */
static __device__ __forceinline__ void copy_or_clear(float *to, const float *from, bool is_there)
{
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(shared_address(to)),
                 "l"(from), "r"(is_there ? 4 : 0)
                 : "memory");
}

#else

/* Arrivals in the lower half, how many make a phase in the upper. */
static __device__ __forceinline__ void barrier_init(uint64_t *barrier, int count)
{
    *barrier = static_cast<uint64_t>(count) << 32;
}

static __device__ __forceinline__ bool barrier_test(uint64_t *barrier, unsigned parity)
{
    const volatile unsigned *words = reinterpret_cast<const volatile unsigned *>(barrier);
    const bool done = (words[0] / words[1] & 1) != parity;
    __threadfence_block();
    return done;
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

static __device__ __forceinline__ void copies_commit()
{
}

static __device__ __forceinline__ void copies_wait()
{
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

static __device__ __forceinline__ void copy_or_clear(float *to, const float *from, bool is_there)
{
    *to = is_there ? *from : 0.0F;
}

#endif

static __device__ __forceinline__ void barrier_wait(uint64_t *barrier, unsigned parity)
{
    while (!barrier_test(barrier, parity)) {
    }
}

/* By one thread, before a __syncthreads of the block. */
static __device__ __forceinline__ void ring_init(const stage_ring &ring, int places, int threads,
                                                 int producers, int consumer_warps)
{
    for (int i = 0; i < places; i++) {
        barrier_init(&ring.first[i], threads);
        barrier_init(&ring.full[i], producers);
        barrier_init(&ring.empty[i], consumer_warps);
    }
}

/* Until the copies to that place are there, as its readers must know. */
static __device__ __forceinline__ void ring_wait_full(const stage_ring &ring, ring_place at)
{
    if (at.round == 0)
        barrier_wait(&ring.first[at.slot], 0);
    else
        barrier_wait(&ring.full[at.slot], (at.round - 1) & 1);
}

/* Until the readers of the round before are done with that place; at.round is at least 1. */
static __device__ __forceinline__ void ring_wait_empty(const stage_ring &ring, ring_place at)
{
    while (!barrier_test(&ring.empty[at.slot], (at.round - 1) & 1))
        __nanosleep(100); /* a producer that spins takes issue slots from those it waits for */
}

} // namespace csrconv

#endif
