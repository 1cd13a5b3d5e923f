/* The memory of the PTX machine, and what waits for it. */
#include "ptx_block.h"

#include "helpers.h"

#include <stdlib.h>
#include <string.h>

char *ptx_shared_at(const struct block *b, uint64_t address, int64_t bytes)
{
    const int64_t at = (int64_t)(uint32_t)address - PTX_BASE;
    assert_true(at >= 0 && at + bytes <= b->launch->shared_bytes);
    assert_int_equal(at % (bytes < 16 ? bytes : 16), 0);
    return b->shared + at;
}

static bool is_in(const struct ptx_memory *m, uint64_t address, int64_t bytes)
{
    const int64_t from = (int64_t)(address - (uint64_t)(uintptr_t)m->floats);
    const int64_t size = (int64_t)sizeof(float);
    for (int64_t i = from / (m->stride * size); i < m->count; i++) {
        const int64_t begin = i * m->stride * size;
        return from >= begin && from + bytes <= begin + m->length * size;
    }
    return false;
}

const void *ptx_input_at(const struct block *b, uint64_t address, int64_t bytes)
{
    struct ptx_memory whole = b->launch->in;
    if (whole.stride == whole.length) {
        whole.length = whole.stride *= whole.count;
        whole.count = 1;
    }
    assert_true(is_in(&whole, address, bytes));
    return (const void *)(uintptr_t)address;
}

float *ptx_float_at(const struct ptx_memory *m, uint64_t address)
{
    assert_true(is_in(m, address, sizeof(float)));
    return (float *)(uintptr_t)address;
}

/* What a barrier's own bytes hold: whoever reads them reads nonsense. */
static const char opaque[] = { 'o', 'p', 'a', 'q', 'u', 'e', '!', '!' };

void ptx_make_barrier(struct block *b, uint64_t address, int64_t count)
{
    assert_true(b->barrier_count < MOST_BARRIERS && count > 0);
    memcpy(ptx_shared_at(b, address, sizeof opaque), opaque, sizeof opaque);
    b->barriers[b->barrier_count++] =
        (struct barrier){ .address = (int64_t)address, .count = count, .pending = count };
}

struct barrier *ptx_barrier_at(struct block *b, uint64_t address)
{
    assert_true(memcmp(ptx_shared_at(b, address, sizeof opaque), opaque, sizeof opaque) == 0);
    for (int i = 0; i < b->barrier_count; i++)
        if (b->barriers[i].address == (int64_t)address)
            return &b->barriers[i];
    fail();
    return NULL;
}

static void settle(struct barrier *barrier)
{
    if (barrier->pending || barrier->bytes)
        return;
    barrier->phase++;
    barrier->pending = barrier->count;
}

void ptx_arrive(struct barrier *barrier)
{
    assert_true(barrier->pending > 0);
    barrier->pending--;
    settle(barrier);
}

void ptx_add_fetch(struct ptx_traffic *traffic, int64_t function, int64_t line)
{
    traffic->fetches =
        realloc(traffic->fetches, (size_t)(traffic->fetch_count + 1) * sizeof *traffic->fetches);
    traffic->fetches[traffic->fetch_count++] = (struct ptx_fetch){ function, line };
}

/* Two copies may have bytes in common if these come from the same place. */
static void check_common(const struct copy *a, const struct copy *b)
{
    if (a->from && b->from && a->to < b->to + b->bytes && b->to < a->to + a->bytes)
        assert_true((const char *)a->from - (const char *)b->from == a->to - b->to);
}

void ptx_begin_copy(struct block *b, const struct copy *copy)
{
    for (int64_t i = 0; i < b->copy_count; i++)
        check_common(&b->copies[i], copy);
    b->traffic->copied_bytes += copy->from ? copy->bytes : 0;
    if (copy->bytes)
        memset(ptx_shared_at(b, (uint64_t)copy->to, copy->bytes), 0xff, (size_t)copy->bytes);
    b->copies = realloc(b->copies, (size_t)(b->copy_count + 1) * sizeof *b->copies);
    b->copies[b->copy_count++] = *copy;
}

static void end_copy(struct block *b, const struct copy *copy)
{
    struct barrier *barrier = &b->barriers[copy->barrier];
    if (copy->bytes)
        memcpy(ptx_shared_at(b, (uint64_t)copy->to, copy->bytes),
               copy->from ? copy->from : copy->words, (size_t)copy->bytes);
    if (copy->thread < 0) {
        barrier->bytes -= copy->bytes;
        settle(barrier);
    } else if (!copy->bytes) {
        ptx_arrive(barrier);
    }
}

void ptx_end_copies(struct block *b, int barrier)
{
    int64_t left = 0;
    for (int64_t i = 0; i < b->copy_count; i++) {
        const struct copy copy = b->copies[i];
        if (copy.barrier == barrier)
            end_copy(b, &copy);
        else
            b->copies[left++] = copy;
    }
    b->copy_count = left;
}
