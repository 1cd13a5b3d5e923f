/* What the files that say what instructions do share. */
#ifndef CSRCONV_UNIT_PTX_EXECUTE_H
#define CSRCONV_UNIT_PTX_EXECUTE_H

#include "ptx_block.h"

#include "helpers.h"

#include <string.h>

/* What is no register and no number. */
uint64_t ptx_special(const struct block *b, const struct thread *t, enum ptx_kind kind);

/* Most of a run's time goes by in these two: so they are inline, and call only to fail. */
static inline uint64_t ptx_read(const struct block *b, const struct thread *t,
                                const struct ptx_operand *o)
{
    if (o->kind == PTX_NUMBER)
        return (uint64_t)o->number;
    if (o->kind != PTX_REGISTER)
        return ptx_special(b, t, o->kind);
    if (o->index < 0 || !t->is_set[o->index])
        fail_msg("a register is read before it is written");
    return t->value[o->index] + (uint64_t)o->number;
}

static inline void ptx_write(struct thread *t, const struct ptx_operand *o, uint64_t value)
{
    if (o->kind != PTX_REGISTER || o->index < 0)
        fail_msg("what is written is no register");
    t->value[o->index] = value;
    t->is_set[o->index] = true;
}

#define IN(i) ptx_read(b, t, &c->operand[i])
#define LOW(i) ((uint32_t)IN(i))
#define SIGNED(i) ((int32_t)LOW(i))
#define OUT(x) ptx_write(t, &c->operand[0], (x))

#define INSTRUCTION(function)                                                                      \
    static void function(struct block *b, struct thread *t, const struct ptx_instruction *c)

/* What ptx_waits.c knows. */
extern const struct ptx_opcode ptx_waiting_opcodes[];
extern const int64_t ptx_waiting_opcode_count;

#endif
