/* A block that runs, as the files of the PTX machine share it. */
#ifndef CSRCONV_UNIT_PTX_BLOCK_H
#define CSRCONV_UNIT_PTX_BLOCK_H

#include "ptx_machine.h"
#include "ptx_program.h"

enum {
    MOST_BARRIERS = 16,
    PTX_MOST_WARPS = 32,
    PTX_BASE = 1024,      /* where shared memory begins: not at 0, as on a GPU */
    PTX_WINDOW = 1 << 24, /* and that of a cluster's block: so much further on for each rank */
    PTX_MOST_CLUSTER = 8
};

struct thread {
    int64_t next;     /* instruction */
    int64_t function; /* that it runs: its first instruction */
    bool is_waiting, is_done;
    bool may_go_on; /* what the kernels before it stored is there, and they read no more */
    bool is_trying; /* for what has not come yet: others' turn */
    int64_t id;
    int64_t phase;      /* of the cluster's barrier, when the thread arrived there */
    bool has_arrived;   /* there, and does not know yet whether all have */
    bool knows_cluster; /* that all its blocks have begun */
    uint64_t *value;
    bool *is_set;
};

/* A copy that has begun; from a block of the cluster, it brings what it copies. */
struct copy {
    const void *from; /* NULL: words */
    uint32_t words[4];
    int64_t to, bytes; /* 0 bytes: an arrival, once the thread's copies before it are done */
    int64_t thread;    /* -1: in bulk */
    int barrier;       /* -1: of words, not known yet */
};

struct barrier {
    int64_t address;
    int64_t count, pending, bytes;
    int phase;
};

struct block {
    const struct ptx_program *program;
    const struct ptx_launch *launch;
    struct ptx_traffic *traffic;
    int64_t begun[PTX_MOST_WARPS]; /* copies in bulk, by each warp */
    struct cluster *cluster;
    int64_t number, panel, rank; /* its place in the grid, the last also in its cluster */
    struct thread *threads;
    int64_t waiting, done; /* of them */
    char *shared;
    struct barrier barriers[MOST_BARRIERS];
    int barrier_count;
    struct copy *copies;
    int64_t copy_count;
};

/* Blocks that run side by side, and the barrier of all their threads. */
struct cluster {
    struct block blocks[PTX_MOST_CLUSTER];
    int64_t arrived, phase;
};

/* Shared memory at an address, of which so many bytes, aligned to as many, must be there. */
char *ptx_shared_at(const struct block *b, uint64_t address, int64_t bytes);

/* Of the input, bytes of one image, or of several if they follow one another. */
const void *ptx_input_at(const struct block *b, uint64_t address, int64_t bytes);

void ptx_add_fetch(struct ptx_traffic *traffic, int64_t function, int64_t line);

/* One float of a tensor. */
float *ptx_float_at(const struct ptx_memory *memory, uint64_t address);

/* Of so many arrivals. */
void ptx_make_barrier(struct block *b, uint64_t address, int64_t count);

/* A barrier that was made, and not written over. */
struct barrier *ptx_barrier_at(struct block *b, uint64_t address);
void ptx_arrive(struct barrier *barrier);

/* Until the copy is done, what it will fill must not be read. */
void ptx_begin_copy(struct block *b, const struct copy *copy);

/* All that a barrier waits for comes to pass. */
void ptx_end_copies(struct block *b, int barrier);

#endif
