#include "ptx_machine.h"
#include "ptx_program.h"

#include "helpers.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_LABELS = 1 << 16 };

struct parser {
    const char *at;
    struct ptx_program *program;
    char (*registers)[32];
    struct label {
        char name[32];
        int scope;
        int64_t instruction; /* -1: not seen yet */
    } * labels;
    int label_count;
    int scope; /* the body that labels are looked for in; functions' names are in 0 */
};

static void skip_space(struct parser *p)
{
    while (isspace((unsigned char)*p->at))
        p->at++;
}

static bool is_name(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '.' || c == ':' || c == '%';
}

/* A word: an instruction, register, label or number. */
static void take_word(struct parser *p, char *word, size_t size)
{
    size_t length = 0;
    skip_space(p);
    while (is_name(*p->at) || (length == 0 && *p->at == '-')) {
        assert_true(length + 1 < size);
        /* A label's colon ends it. */
        if (*p->at == ':' && p->at[1] != ':')
            break;
        if (*p->at == ':')
            word[length++] = *p->at++;
        word[length++] = *p->at++;
    }
    word[length] = '\0';
}

static int register_of(struct parser *p, const char *name)
{
    int i = 0;
    while (i < p->program->registers && strcmp(p->registers[i], name))
        i++;
    if (i == p->program->registers) {
        assert_true(i < PTX_MOST_REGISTERS && strlen(name) < sizeof *p->registers);
        strcpy(p->registers[i], name);
        p->program->registers++;
    }
    return i;
}

static struct label *label_of(struct parser *p, const char *name, int scope)
{
    int i = 0;
    while (i < p->label_count && (p->labels[i].scope != scope || strcmp(p->labels[i].name, name)))
        i++;
    if (i == p->label_count) {
        assert_true(i < MOST_LABELS && strlen(name) < sizeof p->labels->name);
        strcpy(p->labels[i].name, name);
        p->labels[i].scope = scope;
        p->labels[i].instruction = -1;
        p->label_count++;
    }
    return &p->labels[i];
}

static struct ptx_operand number_of(const char *word)
{
    struct ptx_operand o = { .kind = PTX_NUMBER };
    char *end;
    /* 0f and eight digits are a float's bits; a policy's share has a point. */
    if (strncmp(word, "0f", 2) == 0)
        o.number = (int64_t)strtoull(word + 2, &end, 16);
    else if (strchr(word, '.'))
        o.number = (int64_t)strtod(word, &end);
    else
        o.number = strtoll(word, &end, 10);
    assert_true(end != word && *end == '\0');
    return o;
}

static struct ptx_operand parameter_of(const char *word)
{
    static const char *const names[] = { "in", "out", "residual", "images" };
    struct ptx_operand o = { .kind = PTX_PARAMETER };
    while (o.index < COUNT_OF(names) && strcmp(names[o.index], word))
        o.index++;
    assert_true(o.index < COUNT_OF(names));
    return o;
}

/* [register+bytes], or [parameter]. */
static struct ptx_operand take_address(struct parser *p, const struct ptx_instruction *i)
{
    struct ptx_operand o = { .kind = PTX_REGISTER };
    char word[PTX_NAME];
    p->at++;
    take_word(p, word, sizeof word);
    if (strncmp(i->opcode->name, "ld.param", 8) == 0)
        o = parameter_of(word);
    else
        o.index = register_of(p, word);
    if (*p->at == '+') {
        p->at++;
        take_word(p, word, sizeof word);
        o.number = number_of(word).number;
    }
    assert_int_equal(*p->at, ']');
    p->at++;
    return o;
}

/* What has a name of its own: where the thread is, where shared memory begins. */
static bool is_special(const char *word, enum ptx_kind *kind)
{
    static const struct {
        const char *name;
        enum ptx_kind kind;
    } specials[] = { { "%tid.x", PTX_THREAD },    { "%ctaid.x", PTX_BLOCK },
                     { "%nctaid.x", PTX_BLOCKS }, { "%ctaid.y", PTX_PANEL },
                     { "%ctaid.z", PTX_CHUNK },   { "shared", PTX_SHARED } };
    for (int i = 0; i < COUNT_OF(specials); i++)
        if (strcmp(word, specials[i].name) == 0) {
            *kind = specials[i].kind;
            return true;
        }
    return false;
}

static struct ptx_operand label_operand(struct parser *p, const char *word, int scope)
{
    return (struct ptx_operand){ .kind = PTX_LABEL,
                                 .index = (int)(label_of(p, word, scope) - p->labels) };
}

/* Of 64 bits, only functions' addresses are moved. */
static bool names_function(const struct ptx_instruction *i)
{
    return strcmp(i->opcode->name, "mov.u64") == 0 && i->operands == 1;
}

static struct ptx_operand take_operand(struct parser *p, const struct ptx_instruction *i)
{
    struct ptx_operand o = { .kind = PTX_REGISTER };
    char word[PTX_NAME];
    skip_space(p);
    if (*p->at == '[')
        return take_address(p, i);
    take_word(p, word, sizeof word);
    if (strncmp(i->opcode->name, "call", 4) == 0 || names_function(i))
        return label_operand(p, word, 0);
    if (strcmp(i->opcode->name, "bra") == 0)
        return label_operand(p, word, p->scope);
    if (isdigit((unsigned char)*word) || *word == '-')
        return number_of(word);
    if (!is_special(word, &o.kind))
        o.index = strcmp(word, "_") == 0 ? -1 : register_of(p, word);
    return o;
}

/* @p or @!p before an instruction. */
static void take_predicate(struct parser *p, struct ptx_instruction *i)
{
    char word[PTX_NAME];
    i->predicate = -1;
    if (*p->at != '@')
        return;
    p->at++;
    i->is_negated = *p->at == '!';
    p->at += i->is_negated;
    take_word(p, word, sizeof word);
    i->predicate = register_of(p, word);
}

/* What a call hands over: the same register in every text. */
static const char arguments[] = "(base)";

/* Vectors are their registers, one after the other. */
static void take_operands(struct parser *p, struct ptx_instruction *i)
{
    for (skip_space(p); *p->at != ';'; skip_space(p)) {
        struct ptx_operand *const next = &i->operand[i->operands];
        assert_true(i->operands < PTX_OPERANDS);
        p->at += *p->at == '{';
        if (strncmp(p->at, arguments, sizeof arguments - 1) == 0) {
            p->at += sizeof arguments - 1;
        } else {
            *next = take_operand(p, i);
            i->operands++;
        }
        p->at += *p->at == '}';
        skip_space(p);
        if (*p->at == ',')
            p->at++;
    }
    p->at++;
}

/* One label or instruction. */
static void take_statement(struct parser *p)
{
    struct ptx_instruction i = { 0 };
    char word[PTX_NAME];
    take_predicate(p, &i);
    take_word(p, word, sizeof word);
    if (*p->at == ':') {
        p->at++;
        label_of(p, word, p->scope)->instruction = p->program->count;
        return;
    }
    if (*word == '.') { /* a declaration */
        p->at = strchr(p->at, ';') + 1;
        return;
    }
    i.opcode = ptx_opcode(word);
    take_operands(p, &i);
    p->program->instructions[p->program->count++] = i;
}

static void resolve_labels(struct parser *p)
{
    for (int64_t i = 0; i < p->program->count; i++)
        for (int o = 0; o < p->program->instructions[i].operands; o++) {
            struct ptx_operand *operand = &p->program->instructions[i].operand[o];
            if (operand->kind != PTX_LABEL)
                continue;
            assert_true(p->labels[operand->index].instruction >= 0);
            operand->index = (int)p->labels[operand->index].instruction;
        }
}

static int64_t count_statements(const char *text)
{
    int64_t count = 0;
    for (; *text; text++)
        count += *text == ';';
    return count;
}

static void take_body(struct parser *p)
{
    p->at = strchr(p->at, '{') + 1;
    p->scope++;
    for (skip_space(p); *p->at != '}'; skip_space(p))
        take_statement(p);
    p->at++;
}

/* The kernel's entry, or functions that are known by labels of their names. */
static void take_text(struct parser *p, const char *text)
{
    static const char begin[] = ".visible .func ";
    char name[32];
    p->at = strstr(text, ".visible .entry csrconv_jit(");
    if (p->at) {
        p->program->entry = p->program->count;
        take_body(p);
        return;
    }
    for (p->at = text; (p->at = strstr(p->at, begin));) {
        p->at += sizeof begin - 1;
        take_word(p, name, sizeof name);
        skip_space(p);
        assert_ptr_equal(strstr(p->at, "(.reg .b32 base)\n.noreturn"), p->at);
        label_of(p, name, 0)->instruction = p->program->count;
        take_body(p);
    }
}

struct ptx_program *ptx_parse(const char *const *texts, int64_t count)
{
    struct parser p = { .program = calloc(1, sizeof *p.program) };
    int64_t statements = 0;
    for (int64_t i = 0; i < count; i++)
        statements += count_statements(texts[i]);
    p.program->instructions = calloc((size_t)statements, sizeof *p.program->instructions);
    p.registers = calloc(PTX_MOST_REGISTERS, sizeof *p.registers);
    p.labels = calloc(MOST_LABELS, sizeof *p.labels);
    p.program->argument = register_of(&p, "base");
    for (int64_t i = 0; i < count; i++)
        take_text(&p, texts[i]);
    resolve_labels(&p);
    free(p.labels);
    free(p.registers);
    return p.program;
}

void ptx_free(struct ptx_program *program)
{
    free(program->instructions);
    free(program);
}

int64_t ptx_count(const struct ptx_program *program, const char *name)
{
    int64_t count = 0;
    for (int64_t i = 0; i < program->count; i++)
        count += strncmp(program->instructions[i].opcode->name, name, strlen(name)) == 0;
    return count;
}
