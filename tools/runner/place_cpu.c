#include "clock.h"
#include "complain.h"
#include "machine.h"
#include "place.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 256 };
static const size_t flush_bytes = 256U << 20;

static int cpu_count(void)
{
    return 1;
}

static void cpu_describe(int ordinal, struct place_device *device)
{
    (void)ordinal;
    *device = (struct place_device){ .clock_mhz = 0 };
    snprintf(device->name, sizeof device->name, "%s", machine_cpu());
}

static int cpu_select(int ordinal)
{
    (void)ordinal;
    return EXIT_DONE;
}

static void *cpu_allocate(size_t bytes)
{
    if (bytes > PTRDIFF_MAX - ALIGNMENT)
        return NULL;
    return aligned_alloc(ALIGNMENT, (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT + ALIGNMENT);
}

static int cpu_copy(void *to, const void *from, size_t bytes)
{
    memcpy(to, from, bytes);
    return EXIT_DONE;
}

static void *cpu_stream(void)
{
    return NULL;
}

static int cpu_finish(void)
{
    return EXIT_DONE;
}

static int cpu_record(struct row *row)
{
    row->graph = NULL;
    row->uncaptured[0] = '\0';
    return EXIT_DONE;
}

static void cpu_forget(struct row *row)
{
    (void)row;
}

static int run_calls(const struct row *row, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        if (row->call(row->context))
            return complain(EXIT_WRONG, row->name, "%s", csrconv_last_error());
    return EXIT_DONE;
}

static int cpu_replay(const struct row *row, double *us)
{
    const double start = clock_us();
    const int code = run_calls(row, row->count);
    *us = clock_us() - start;
    return code;
}

/* Once brings back the caches, and outlasts the spinning threads of whatever ran before. */
static int cpu_warm(const struct row *row)
{
    return run_calls(row, 1);
}

/* The block stays, as there is more to come. */
static int cpu_flush(void)
{
    static char *block;
    static int value;
    if (!block && !(block = malloc(flush_bytes)))
        return complain(EXIT_WRONG, "--cold", "no room for %zu bytes to flush the caches with",
                        flush_bytes);
    memset(block, ++value & 255, flush_bytes);
    __asm__ volatile("" : : "r"(block) : "memory");
    return EXIT_DONE;
}

const struct place place_cpu = {
    .device = CSRCONV_DEVICE_CPU,
    .count = cpu_count,
    .describe = cpu_describe,
    .row_us = 2000.0, /* against a clock's and a scheduler's step */
    .select = cpu_select,
    .allocate = cpu_allocate,
    .release = free,
    .upload = cpu_copy,
    .download = cpu_copy,
    .stream = cpu_stream,
    .finish = cpu_finish,
    .record = cpu_record,
    .forget = cpu_forget,
    .replay = cpu_replay,
    .warm = cpu_warm,
    .flush = cpu_flush,
};
