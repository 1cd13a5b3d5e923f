/*
 * Runs the PTX that cuda_jit prints, on the CPU: one cluster after the other, its blocks side by
 * side, their threads in turn.
 *
 * Stricter than a GPU: a register is written before it is read, shared memory that a copy will fill
 * holds NaNs from when the copy begins, and the copy is done only when somebody waits for it;
 * nobody writes over a barrier, or reads sense from it; global memory is read and written only
 * where a launch says that it may be. Copies that are under way at the same time bring the same to
 * what they share. A thread gives another block something only when it knows that the block has
 * begun, and no thread of that one has left.
 */
#ifndef CSRCONV_UNIT_PTX_MACHINE_H
#define CSRCONV_UNIT_PTX_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

struct ptx_program;

/* A kernel in several texts; a failure of the test if anything in them is not understood. */
struct ptx_program *ptx_parse(const char *const *texts, int64_t count);

void ptx_free(struct ptx_program *program);

/* How many instructions there are whose name begins so. */
int64_t ptx_count(const struct ptx_program *program, const char *name);

/* `count` times `floats` floats, `stride` apart: memory that the kernel may read. */
struct ptx_memory {
    float *floats;
    int64_t count, length, stride;
};

/* Line `line` of 128 bytes of a function that is known by its first instruction. */
struct ptx_fetch {
    int64_t function, line;
};

/* What a run brought from memory. */
struct ptx_traffic {
    int64_t copied_bytes;
    int64_t most_copies; /* that one warp began */
    struct ptx_fetch *fetches;
    int64_t fetch_count;
};

struct ptx_launch {
    struct ptx_memory in, out, residual; /* out is written only */
    uint32_t images;
    int64_t blocks, panels, chunks; /* the grid; the last makes a cluster */
    int64_t threads, shared_bytes;
};

/* Adds to the traffic, whose fetches are freed by free(). */
void ptx_run(const struct ptx_program *program, const struct ptx_launch *launch,
             struct ptx_traffic *traffic);

#endif
