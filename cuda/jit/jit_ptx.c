#include "jit_ptx.h"

#include "integers.h"
#include "jit_positions.h"
#include "jit_printer.h"

enum { LINE = 128 };

/* It never returns, so it need not save the registers that a caller might still want. */
#define PART_PARAMETERS " (.reg .b32 base)\n.noreturn"

void csrconv_jit_print_parameter(const struct printer *p, const char *to, enum parameter parameter)
{
    say("ld.shared.u%d %s, [base+%" PRId64 "];\n", parameter == PARAMETER_IMAGES ? 32 : 64, to,
        parameter_of(p->tiling, parameter));
}

static void print_registers(const struct printer *p)
{
    const int64_t masks = (csrconv_jit_count_masked(p->shape) + 31) / 32;
    const int64_t positions = csrconv_jit_positions(p->shape);
    const int64_t kept = csrconv_jit_keeps_registers(p->shape) ? positions : CSRCONV_JIT_GROUP;
    say(".reg .b32 thread, block, first, image, slot, y, x, row, column, place;\n"
        ".reg .b32 t, u, v, to, turn, bytes, head, body, rest, quad, word;\n"
        ".reg .b32 copied, channel, begin, end, above, seen, skipped;\n"
        ".reg .b64 from, at, add, d, policy;\n"
        ".reg .pred p, q, valid, m<%d>;\n"
        ".reg .b32 mask<%" PRId64 ">;\n"
        ".reg .f32 in<%" PRId64 ">, sum<%" PRId64 ">, f, given<4>, total<4>;\n",
        CSRCONV_JIT_GROUP, masks + 1, kept, p->part->filters);
}

/* The register of a position within its group. */
static int64_t input_of(const struct printer *p, int64_t position)
{
    return csrconv_jit_keeps_registers(p->shape) ? position : position % CSRCONV_JIT_GROUP;
}

/* Predicates of a group's masked positions, whose first bit is *bit; zeros where they are false. */
static void print_group(const struct printer *p, int64_t group, int64_t *bit)
{
    const int64_t first = group * CSRCONV_JIT_GROUP, positions = csrconv_jit_positions(p->shape);
    for (int64_t i = first; i < first + CSRCONV_JIT_GROUP && i < positions; i++) {
        if (!csrconv_jit_is_masked(p->shape, i))
            continue;
        say("and.b32 t, mask%" PRId64 ", %" PRIu32 ";\nsetp.ne.u32 m%" PRId64 ", t, 0;\n",
            *bit / 32, UINT32_C(1) << *bit % 32, i % CSRCONV_JIT_GROUP);
        if (!csrconv_jit_keeps_registers(p->shape))
            say("mov.f32 in%" PRId64 ", 0f00000000;\n", input_of(p, i));
        ++*bit;
    }
}

static void print_load(const struct printer *p, int64_t stage, const struct csrconv_jit_load *load)
{
    const int64_t input = input_of(p, load->position);
    if (csrconv_jit_is_masked(p->shape, load->position))
        say("@m%d ", load->position % CSRCONV_JIT_GROUP);
    say("ld.shared.f32 in%" PRId64 ", [place+%" PRId64 "];\n", input,
        place_of(p, stage) + (int64_t)load->offset * WORD);
    for (int64_t i = load->fma; i < load[1].fma; i++) {
        const struct csrconv_jit_fma *fma = &p->part->fma[i];
        say("fma.rn.f32 sum%d, in%" PRId64 ", 0f%08" PRIX32 ", sum%d;\n", fma->sum, input,
            bits_of(fma->value), fma->sum);
    }
}

/* The loads of a group of positions; *since counts instructions since the last barrier. */
static void print_loads(const struct printer *p, int64_t stage, const int64_t *start,
                        int64_t *since)
{
    for (int64_t i = start[0]; i < start[1]; i++) {
        const struct csrconv_jit_load *load = &p->part->load[i];
        const int64_t instructions = 1 + load[1].fma - load->fma;
        if (p->tiling->step && *since + instructions > p->tiling->step) {
            say("bar.sync 0;\n");
            *since = 0;
        }
        print_load(p, stage, load);
        *since += instructions;
    }
}

/*
 * Zeros where predicates are false, if they are kept. Again after each copy: so its addresses can
 * take these registers, which else were spilled.
 */
static void print_inputs_cleared(const struct printer *p)
{
    const int64_t positions = csrconv_jit_positions(p->shape);
    for (int64_t i = 0; i < positions && csrconv_jit_keeps_registers(p->shape); i++)
        if (csrconv_jit_is_masked(p->shape, i))
            say("mov.f32 in%" PRId64 ", 0f00000000;\n", i);
}

static void print_stage(const struct printer *p, int64_t stage)
{
    const struct csrconv_jit_part *part = p->part;
    const int64_t ahead = csrconv_jit_ahead(p->tiling, part->stages);
    const int64_t groups = csrconv_jit_groups(p->shape), at = stage - part->first_stage;
    const bool begins_copies = at + ahead < part->stages;
    int64_t bit = 0, since = 0;
    say("WAIT%" PRId64 ":\nmbarrier.try_wait.parity.shared.b64 p, [base+%" PRId64 "], %" PRId64
        ";\n@!p bra WAIT%" PRId64 ";\n",
        stage, barrier_of(p, stage), at / p->tiling->ring % 2, stage);
    /* In step: so the warps share the code that streams by, and the stage before is done with. */
    say("bar.sync 0;\n");
    if (begins_copies)
        csrconv_jit_print_copies(p, stage + ahead);
    if (at == 0 || begins_copies)
        print_inputs_cleared(p);
    for (int64_t group = 0; group < groups; group++) {
        print_group(p, group, &bit);
        print_loads(p, stage, part->start + at * groups + group, &since);
    }
}

static void print_sums_cleared(const struct printer *p)
{
    for (int64_t i = 0; i < p->part->filters; i++)
        say("mov.f32 sum%" PRId64 ", 0f00000000;\n", i);
}

/* The kernel's parameters, for all threads. */
static void print_parameters_kept(const struct csrconv_jit_tiling *tiling,
                                  struct csrconv_jit_text *text)
{
    static const struct {
        const char *name;
        enum parameter parameter;
    } pointers[] = { { "in", PARAMETER_IN },
                     { "out", PARAMETER_OUT },
                     { "residual", PARAMETER_RESIDUAL } };
    csrconv_jit_print(text, "mov.u32 t, %%tid.x;\nsetp.ne.u32 p, t, 0;\n@p bra KEPT;\n");
    for (int i = 0; i < 3; i++)
        csrconv_jit_print(
            text, "ld.param.u64 pointer, [%s];\nst.shared.u64 [base+%" PRId64 "], pointer;\n",
            pointers[i].name, parameter_of(tiling, pointers[i].parameter));
    csrconv_jit_print(text,
                      "ld.param.u32 t, [images];\nst.shared.u32 [base+%" PRId64 "], t;\n"
                      "KEPT:\nbar.sync 0;\n",
                      parameter_of(tiling, PARAMETER_IMAGES));
}

/*
 * Calls the part's function, which is one of these. By halves: assemblers make a table of a chain,
 * in constant memory, and linked functions have been seen to read each other's.
 */
static void print_calls(int64_t begin, int64_t end, struct csrconv_jit_text *text)
{
    const int64_t middle = begin + (end - begin) / 2;
    if (end - begin == 1) {
        csrconv_jit_print(text, "call.uni part%" PRId64 ", (base);\nret;\n", begin);
        return;
    }
    csrconv_jit_print(text, "setp.ge.u32 p, part, %" PRId64 ";\n@p bra FROM%" PRId64 ";\n", middle,
                      middle);
    print_calls(begin, middle, text);
    csrconv_jit_print(text, "FROM%" PRId64 ":\n", middle);
    print_calls(middle, end, text);
}

void csrconv_jit_ptx_begin(struct csrconv_jit_text *text)
{
    csrconv_jit_print(text, ".version 8.1\n.target sm_90\n.address_size 64\n");
}

/* How the kernel is launched, behind its parameters. */
static void print_launch(const struct csrconv_jit_tiling *tiling, struct csrconv_jit_text *text)
{
    csrconv_jit_print(text, ".maxntid %" PRId64 ", 1, 1\n.minnctapersm %" PRId64 "\n",
                      tiling->threads, tiling->residents);
    if (tiling->chunks > 1)
        csrconv_jit_print(text, ".explicitcluster\n.reqnctapercluster 1, 1, %" PRId64 "\n",
                          tiling->chunks);
}

void csrconv_jit_ptx_entry(const struct csrconv_shape *shape,
                           const struct csrconv_jit_tiling *tiling, struct csrconv_jit_text *text)
{
    const int64_t parts = csrconv_jit_parts(shape, tiling);
    csrconv_jit_ptx_begin(text);
    csrconv_jit_print(text, ".extern .shared .align 128 .b8 shared[];\n");
    for (int64_t i = 0; i < parts; i++)
        csrconv_jit_print(text, ".extern .func part%" PRId64 PART_PARAMETERS ";\n", i);
    csrconv_jit_print(text, ".visible .entry csrconv_jit(.param .u64 in, .param .u64 out,\n"
                            "    .param .u64 residual, .param .u32 images)\n");
    print_launch(tiling, text);
    csrconv_jit_print(text, "{\n.reg .b32 base, part, t;\n.reg .b64 pointer;\n.reg .pred p;\n"
                            "mov.u32 base, shared;\n");
    /* Let the next kernel begin, as far as it does not wait for this one. */
    csrconv_jit_print(text, "griddepcontrol.launch_dependents;\n");
    print_parameters_kept(tiling, text);
    csrconv_jit_print(text,
                      "mov.u32 part, %%ctaid.y;\nmov.u32 t, %%ctaid.z;\n"
                      "mad.lo.u32 part, part, %" PRId64 ", t;\n",
                      tiling->chunks);
    print_calls(0, parts, text);
    csrconv_jit_print(text, "}\n");
}

/* Each product, load and sum that is cleared and stored is an instruction at least. */
int64_t csrconv_jit_code_lines(const struct csrconv_jit_part *part)
{
    const int64_t instruction_bytes = 16, of_filter = 2;
    const int64_t instructions =
        part->load[part->loads].fma + part->loads + of_filter * part->filters;
    return instructions * instruction_bytes / LINE;
}

/*
 * The part's code to the second cache, before it is run: where it comes from the device's memory,
 * it would come in the order in which it is run, a few lines at a time. Some of the blocks that run
 * it share the lines. A function's address is that of its code, which nothing else is done with.
 */
static void print_code_fetched(const struct printer *p)
{
    const int64_t lines = csrconv_jit_code_lines(p->part), blocks = p->tiling->blocks;
    const int64_t sharing = csrconv_smaller(blocks, CSRCONV_JIT_FETCHING_BLOCKS);
    const int64_t step = sharing * p->tiling->threads;
    if (sharing < blocks)
        say("and.b32 u, block, %d;\n", CSRCONV_JIT_FETCHING_BLOCKS - 1);
    else
        say("mov.u32 u, block;\n");
    say("mad.lo.u32 t, thread, %" PRId64 ", u;\n", sharing);
    say("mov.u64 at, part%" PRId64 ";\nmul.wide.u32 add, t, %d;\nadd.s64 at, at, add;\n",
        p->part->number, LINE);
    for (int64_t first = 0; first < lines; first += step)
        say("setp.lt.u32 p, t, %" PRId64 ";\n@p prefetch.global.L2 [at+%" PRId64 "];\n",
            lines - first, first * LINE);
}

void csrconv_jit_ptx_part(const struct csrconv_problem *problem,
                          const struct csrconv_jit_tiling *tiling,
                          const struct csrconv_jit_part *part, struct csrconv_jit_text *text)
{
    const struct printer printer = { problem, &problem->shape, tiling, part, text };
    const struct printer *p = &printer;
    const int64_t ahead = csrconv_jit_ahead(tiling, part->stages), first = part->first_stage;
    say(".visible .func part%" PRId64 PART_PARAMETERS "\n{\n", part->number);
    print_registers(p);
    csrconv_jit_print_output(p);
    csrconv_jit_print_place(p);
    csrconv_jit_print_masks(p);
    csrconv_jit_print_table(p);
    csrconv_jit_print_barriers(p);
    print_code_fetched(p);
    /* Until the kernels before are done, of which all but tensors is independent. */
    say("griddepcontrol.wait;\n");
    for (int64_t stage = first; stage < first + ahead; stage++)
        csrconv_jit_print_copies(p, stage);
    print_sums_cleared(p);
    for (int64_t stage = first; stage < first + part->stages; stage++)
        print_stage(p, stage);
    if (tiling->chunks > 1)
        csrconv_jit_print_exchange(p);
    csrconv_jit_print_stores(p);
    say("exit;\n}\n");
}
