/* A parsed kernel, as ptx_parse.c makes it and ptx_machine.c runs it. */
#ifndef CSRCONV_UNIT_PTX_PROGRAM_H
#define CSRCONV_UNIT_PTX_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>

enum { PTX_NAME = 96, PTX_OPERANDS = 6, PTX_MOST_REGISTERS = 4096 };

enum ptx_kind {
    PTX_REGISTER,
    PTX_NUMBER,
    PTX_THREAD,
    PTX_BLOCK, /* in the panel */
    PTX_BLOCKS,
    PTX_PANEL,
    PTX_CHUNK,
    PTX_SHARED,
    PTX_PARAMETER,
    PTX_LABEL
};

/* A register (with an offset, in an address), or what its kind says. */
struct ptx_operand {
    enum ptx_kind kind;
    int index; /* of the register or parameter, or of the instruction that a label stands before */
    int64_t number;
};

struct ptx_instruction;
struct block;
struct thread;

struct ptx_opcode {
    const char *name;
    void (*run)(struct block *b, struct thread *t, const struct ptx_instruction *c);
};

struct ptx_instruction {
    const struct ptx_opcode *opcode;
    int predicate; /* register; -1: always */
    bool is_negated;
    int operands;
    struct ptx_operand operand[PTX_OPERANDS];
};

struct ptx_program {
    struct ptx_instruction *instructions;
    int64_t count, entry; /* the kernel begins at that one */
    int registers;
    int argument; /* the register that keeps its value through a call */
};

/* What instructions of that name do; fails the test if there is none. */
const struct ptx_opcode *ptx_opcode(const char *name);

#endif
