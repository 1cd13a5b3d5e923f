/* What the files that say what instructions do share. */
#ifndef CSRCONV_UNIT_PTX_EXECUTE_H
#define CSRCONV_UNIT_PTX_EXECUTE_H

#include "ptx_block.h"

#include "helpers.h"

#include <string.h>

uint64_t ptx_read(const struct block *b, const struct thread *t, const struct ptx_operand *o);
void ptx_write(struct thread *t, const struct ptx_operand *o, uint64_t value);

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
