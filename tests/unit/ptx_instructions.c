/* What instructions that compute, branch, load and store do. */
#include "ptx_execute.h"

#include <math.h>

uint64_t ptx_special(const struct block *b, const struct thread *t, enum ptx_kind kind)
{
    switch (kind) {
    case PTX_THREAD:
        return (uint64_t)t->id;
    case PTX_BLOCK:
        return (uint64_t)b->number;
    case PTX_BLOCKS:
        return (uint64_t)b->launch->blocks;
    case PTX_PANEL:
        return (uint64_t)b->panel;
    case PTX_CHUNK:
        return (uint64_t)b->rank;
    default:
        assert_int_equal(kind, PTX_SHARED);
        return PTX_BASE;
    }
}

static float as_float(uint64_t bits)
{
    const uint32_t low = (uint32_t)bits;
    float x;
    memcpy(&x, &low, sizeof x);
    return x;
}

static uint64_t as_bits(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

#define SIMPLE(function, result)                                                                   \
    INSTRUCTION(function)                                                                          \
    {                                                                                              \
        OUT(result);                                                                               \
    }

SIMPLE(move, LOW(1))
SIMPLE(multiply, (uint32_t)(LOW(1) * LOW(2)))
SIMPLE(multiply_64, IN(1) * IN(2))
SIMPLE(multiply_wide, (uint64_t)LOW(1) * LOW(2))
SIMPLE(multiply_add, (uint32_t)(LOW(1) * LOW(2) + LOW(3)))
SIMPLE(multiply_add_wide, (uint64_t)LOW(1) * LOW(2) + IN(3))
SIMPLE(add, (uint32_t)(LOW(1) + LOW(2)))
SIMPLE(add_64, IN(1) + IN(2))
SIMPLE(subtract, (uint32_t)(LOW(1) - LOW(2)))
SIMPLE(subtract_64, IN(1) - IN(2))
SIMPLE(minimum, LOW(1) < LOW(2) ? LOW(1) : LOW(2))
SIMPLE(minimum_signed, (uint32_t)(SIGNED(1) < SIGNED(2) ? SIGNED(1) : SIGNED(2)))
SIMPLE(maximum_signed, (uint32_t)(SIGNED(1) > SIGNED(2) ? SIGNED(1) : SIGNED(2)))
SIMPLE(shift_left, (uint32_t)(LOW(1) << LOW(2)))
SIMPLE(shift_left_64, IN(1) << LOW(2))
SIMPLE(shift_right, LOW(1) >> LOW(2))
SIMPLE(shift_right_64, IN(1) >> LOW(2))
SIMPLE(and_bits, LOW(1) & LOW(2))
SIMPLE(and_bits_64, IN(1) & IN(2))
SIMPLE(or_bits, LOW(1) | LOW(2))
SIMPLE(select, IN(3) ? LOW(1) : LOW(2))
SIMPLE(is_less, LOW(1) < LOW(2))
SIMPLE(is_less_and, LOW(1) < LOW(2) && IN(3))
SIMPLE(is_not_less, LOW(1) >= LOW(2))
SIMPLE(is_equal, LOW(1) == LOW(2))
SIMPLE(is_unequal, LOW(1) != LOW(2))
SIMPLE(same_64, IN(1))
SIMPLE(fused, as_bits(fmaf(as_float(IN(1)), as_float(IN(2)), as_float(IN(3)))))
SIMPLE(add_floats, as_bits(as_float(IN(1)) + as_float(IN(2))))
SIMPLE(maximum, as_bits(as_float(IN(1)) < as_float(IN(2)) ? as_float(IN(2)) : as_float(IN(1))))
SIMPLE(minimum_float,
       as_bits(as_float(IN(1)) > as_float(IN(2)) ? as_float(IN(2)) : as_float(IN(1))))

INSTRUCTION(nothing)
{
    (void)b;
    (void)t;
    (void)c;
}

INSTRUCTION(set_policy)
{
    (void)b;
    OUT(0);
}

INSTRUCTION(branch)
{
    (void)b;
    t->next = c->operand[0].index;
}

/* What is called sees its argument only. */
INSTRUCTION(call)
{
    bool is_set[PTX_MOST_REGISTERS] = { false };
    is_set[b->program->argument] = t->is_set[b->program->argument];
    memcpy(t->is_set, is_set, (size_t)b->program->registers * sizeof *is_set);
    t->next = t->function = c->operand[0].index;
}

/* An address that nothing is read from, which tells the function. */
INSTRUCTION(function_address)
{
    (void)b;
    OUT((uint64_t)(c->operand[1].index + 1) << 32);
}

/* A line of the function that the thread runs. */
INSTRUCTION(fetch_code)
{
    const uint64_t at = IN(0), begin = (uint64_t)(t->function + 1) << 32;
    assert_true(at >= begin && at - begin < 1U << 31 && at % 128 == 0);
    ptx_add_fetch(b->traffic, t->function, (int64_t)(at - begin) / 128);
}

/* Where functions of no return come back to. */
INSTRUCTION(come_back)
{
    (void)b;
    (void)t;
    (void)c;
    fail();
}

INSTRUCTION(leave)
{
    (void)c;
    assert_false(t->has_arrived);
    t->is_done = true;
    b->done++;
}

INSTRUCTION(load_parameter)
{
    const struct ptx_launch *l = b->launch;
    const uint64_t values[] = { (uint64_t)(uintptr_t)l->in.floats,
                                (uint64_t)(uintptr_t)l->out.floats,
                                (uint64_t)(uintptr_t)l->residual.floats, l->images };
    OUT(values[c->operand[1].index]);
}

INSTRUCTION(load_shared)
{
    uint32_t x;
    memcpy(&x, ptx_shared_at(b, IN(1), sizeof x), sizeof x);
    OUT(x);
}

INSTRUCTION(load_shared_quad)
{
    uint32_t x[4];
    memcpy(x, ptx_shared_at(b, IN(4), sizeof x), sizeof x);
    for (int i = 0; i < 4; i++)
        ptx_write(t, &c->operand[i], x[i]);
}

INSTRUCTION(load_shared_64)
{
    uint64_t x;
    memcpy(&x, ptx_shared_at(b, IN(1), sizeof x), sizeof x);
    OUT(x);
}

INSTRUCTION(store_shared)
{
    const uint32_t x = LOW(1);
    memcpy(ptx_shared_at(b, IN(0), sizeof x), &x, sizeof x);
}

INSTRUCTION(store_shared_64)
{
    const uint64_t x = IN(1);
    memcpy(ptx_shared_at(b, IN(0), sizeof x), &x, sizeof x);
}

INSTRUCTION(wait_for_kernels)
{
    (void)b;
    (void)c;
    t->may_go_on = true;
}

INSTRUCTION(load_global)
{
    assert_true(t->may_go_on);
    OUT(as_bits(*ptx_float_at(&b->launch->residual, IN(1))));
}

/* Once only. */
INSTRUCTION(store_global)
{
    float *to = ptx_float_at(&b->launch->out, IN(0));
    assert_true(t->may_go_on);
    assert_true(isnan(*to));
    *to = as_float(IN(1));
}

static const struct ptx_opcode plain_opcodes[] = {
    { "mov.u32", move },
    { "mov.f32", move },
    { "mov.u64", function_address },
    { "mul.lo.u32", multiply },
    { "mul.lo.u64", multiply_64 },
    { "mul.wide.u32", multiply_wide },
    { "mad.lo.u32", multiply_add },
    { "mad.lo.s32", multiply_add },
    { "mad.wide.u32", multiply_add_wide },
    { "add.u32", add },
    { "add.s32", add },
    { "add.s64", add_64 },
    { "sub.u32", subtract },
    { "sub.s32", subtract },
    { "sub.s64", subtract_64 },
    { "min.u32", minimum },
    { "min.s32", minimum_signed },
    { "max.s32", maximum_signed },
    { "shl.b32", shift_left },
    { "shl.b64", shift_left_64 },
    { "shr.u32", shift_right },
    { "shr.u64", shift_right_64 },
    { "and.b32", and_bits },
    { "and.b64", and_bits_64 },
    { "or.b32", or_bits },
    { "selp.u32", select },
    { "setp.lt.u32", is_less },
    { "setp.lt.and.u32", is_less_and },
    { "setp.ge.u32", is_not_less },
    { "setp.eq.u32", is_equal },
    { "setp.ne.u32", is_unequal },
    { "cvt.u64.u32", move },
    { "cvt.u32.u64", move },
    { "cvta.to.global.u64", same_64 },
    { "fma.rn.f32", fused },
    { "add.f32", add_floats },
    { "max.NaN.f32", maximum },
    { "min.NaN.f32", minimum_float },
    { "bra", branch },
    { "call.uni", call },
    { "ret", come_back },
    { "exit", leave },
    { "griddepcontrol.launch_dependents", nothing },
    { "griddepcontrol.wait", wait_for_kernels },
    { "prefetch.global.L2", fetch_code },
    { "fence.mbarrier_init.release.cluster", nothing },
    { "fence.proxy.async", nothing },
    { "createpolicy.fractional.L2::evict_first.b64", set_policy },
    { "ld.param.u32", load_parameter },
    { "ld.param.u64", load_parameter },
    { "ld.shared.f32", load_shared },
    { "ld.shared.u32", load_shared },
    { "ld.shared.u64", load_shared_64 },
    { "ld.shared.v4.f32", load_shared_quad },
    { "st.shared.u32", store_shared },
    { "st.shared.u64", store_shared_64 },
    { "ld.global.f32", load_global },
    { "st.global.f32", store_global },
    { "st.global.L2::cache_hint.f32", store_global },
};

static const struct ptx_opcode *find(const struct ptx_opcode *opcodes, int64_t count,
                                     const char *name)
{
    for (int64_t i = 0; i < count; i++)
        if (strcmp(opcodes[i].name, name) == 0)
            return &opcodes[i];
    return NULL;
}

const struct ptx_opcode *ptx_opcode(const char *name)
{
    const struct ptx_opcode *opcode = find(plain_opcodes, COUNT_OF(plain_opcodes), name);
    if (!opcode)
        opcode = find(ptx_waiting_opcodes, ptx_waiting_opcode_count, name);
    if (!opcode)
        fail_msg("no instruction \"%s\"", name);
    return opcode;
}
