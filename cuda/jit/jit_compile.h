/*
 * PTX to machine code through libnvJitLink, which is opened when it is first wanted: the library
 * needs nothing of CUDA's but the driver to run the other algorithms.
 */
#ifndef CSRCONV_JIT_COMPILE_H
#define CSRCONV_JIT_COMPILE_H

#include "jit_text.h"

/* CSRCONV_NOT_SUPPORTED and why, if there is no such library here. */
csrconv_status csrconv_jit_compiler(void);

/* Its version, such as 13.0; once it was found to be there. */
void csrconv_jit_compiler_version(unsigned *major, unsigned *minor);

/* Machine code; released by csrconv_release. */
struct csrconv_jit_code {
    void *bytes;
    size_t size;
};

/*
 * To code that is still to be linked, of functions that take so many registers at most. Any number
 * of threads at once. *log, if log is not NULL, gets what the assembler tells, such as registers
 * and spills: a text that csrconv_release releases.
 */
csrconv_status csrconv_jit_assemble(const struct csrconv_jit_text *ptx, int capability,
                                    int64_t registers, struct csrconv_memory *memory,
                                    struct csrconv_jit_code *code, char **log);

/* To code that can be loaded. */
csrconv_status csrconv_jit_link(const struct csrconv_jit_code *parts, int64_t count, int capability,
                                struct csrconv_memory *memory, struct csrconv_jit_code *code);

#endif
