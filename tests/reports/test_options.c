/* The argument parser, and the numbers that it hands on: what is taken, and what is refused how. */
#include "complain.h"
#include "nearest.h"
#include "options.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const struct command try_command = { "try", "", "usage: csrconv try\n", NULL };

struct arguments {
    int cold;
    const char *output;
    struct text_list algorithms;
    int64_t threads;
    struct whole_list batches;
    double seconds;
    struct real_list sparsities;
    int64_t stride[2];
    int64_t pad[4];
    struct text_list rest;
};

static int parse(struct arguments *a, int argc, char **argv)
{
    *a = (struct arguments){ .threads = 7, .stride = { 1, 1 } };
    const struct option_spec specs[] = {
        { "cold", OPTION_FLAG, &a->cold, 0, 0, 0, 0 },
        { "output", OPTION_TEXT, &a->output, 0, 0, 0, 0 },
        { "algo", OPTION_TEXTS, &a->algorithms, 0, 0, 0, 0 },
        { "threads", OPTION_WHOLE, &a->threads, 0, 1024, 0, 0 },
        { "batch", OPTION_WHOLES, &a->batches, 1, INT64_MAX, 0, 0 },
        { "min-time", OPTION_REAL, &a->seconds, 0, 0, 0.0, 3600.0 },
        { "sparsity", OPTION_REALS, &a->sparsities, 0, 0, 0.0, 1.0 },
        { "stride", OPTION_PAIR, a->stride, 1, INT64_MAX, 0, 0 },
        { "pad", OPTION_PADDING, a->pad, 0, INT64_MAX, 0, 0 },
        { NULL, OPTION_FLAG, NULL, 0, 0, 0, 0 },
    };
    return options_parse(&try_command, specs, argc, argv, &a->rest);
}

static void free_arguments(struct arguments *a)
{
    text_list_free(&a->algorithms);
    whole_list_free(&a->batches);
    real_list_free(&a->sparsities);
    text_list_free(&a->rest);
}

/* Parses words apart by single spaces; an empty word is written as "''". */
static int parse_line(struct arguments *a, const char *line)
{
    static char copy[512];
    static char none[] = "";
    static char *argv[64];
    int argc = 0;
    strncpy(copy, line, sizeof copy - 1);
    for (char *word = strtok(copy, " "); word; word = strtok(NULL, " "))
        argv[argc++] = strcmp(word, "''") == 0 ? none : word;
    return parse(a, argc, argv);
}

static void takes_every_kind(void **state)
{
    (void)state;
    struct arguments a;
    assert_int_equal(parse_line(&a, "try one --cold --output=a=b --algo x,y two --threads 3 "
                                    "--batch 1,2 --batch=4 --min-time 0.5 --sparsity 0,.9,9e-1 "
                                    "--stride 2 --pad 1,2,3,4 --algo z - -- --cold -h"),
                     EXIT_DONE);
    assert_int_equal(a.cold, 1);
    assert_string_equal(a.output, "a=b");
    assert_int_equal(a.algorithms.count, 3);
    assert_string_equal(a.algorithms.items[2], "z");
    assert_int_equal(a.threads, 3);
    assert_int_equal(a.batches.count, 3);
    assert_int_equal(a.batches.items[2], 4);
    assert_true(a.seconds == 0.5);
    assert_int_equal(a.sparsities.count, 3);
    assert_true(a.sparsities.items[1] == 0.9 && a.sparsities.items[2] == 0.9);
    assert_int_equal(a.stride[0] * 10 + a.stride[1], 22);
    assert_int_equal(a.pad[0] * 1000 + a.pad[1] * 100 + a.pad[2] * 10 + a.pad[3], 1234);
    assert_int_equal(a.rest.count, 5);
    assert_string_equal(a.rest.items[2], "-");
    assert_string_equal(a.rest.items[4], "-h");
    free_arguments(&a);
}

static void keeps_defaults(void **state)
{
    (void)state;
    struct arguments a;
    assert_int_equal(parse_line(&a, "try --pad 3,4"), EXIT_DONE);
    assert_int_equal(a.threads, 7);
    assert_int_equal(a.batches.count, 0);
    assert_null(a.output);
    assert_int_equal(a.pad[0] * 1000 + a.pad[1] * 100 + a.pad[2] * 10 + a.pad[3], 3434);
    free_arguments(&a);
}

static void shows_help(void **state)
{
    (void)state;
    struct arguments a;
    assert_int_equal(parse_line(&a, "try --cold --help --nonsense"), COMMAND_HELPED);
    free_arguments(&a);
    assert_int_equal(parse_line(&a, "try -h"), COMMAND_HELPED);
    free_arguments(&a);
}

static void refuses(void **state)
{
    (void)state;
    static const struct {
        const char *line, *complaint;
    } cases[] = {
        { "try --sparsty 0.5", "--sparsty: try has no such option; did you mean --sparsity?" },
        { "try --sparsty=0.5", "--sparsty: try has no such option; did you mean --sparsity?" },
        { "try --hepl", "--hepl: try has no such option; did you mean --help?" },
        { "try --zzzzzz", "--zzzzzz: try has no such option; see csrconv try --help" },
        { "try -t 4", "-t: try has no such option; see csrconv try --help" },
        { "try --batch", "--batch: needs a value" },
        { "try --batch --cold", "--batch: needs a value" },
        { "try --batch=", "--batch: needs a value" },
        { "try --output ''", "--output: needs a value" },
        { "try --cold=1", "--cold: takes no value" },
        { "try --cold --cold", "--cold: is given twice" },
        { "try --threads 1 --threads 1", "--threads: is given twice" },
        { "try --threads 1,2", "--threads: \"1,2\" is not a whole number" },
        { "try --threads 1025", "--threads: 1025 is not in 0 to 1024" },
        { "try --threads -1", "--threads: -1 is not in 0 to 1024" },
        { "try --threads 99999999999999999999",
          "--threads: 99999999999999999999 is not in 0 to 1024" },
        { "try --threads 0x10", "--threads: \"0x10\" is not a whole number" },
        { "try --threads +1", "--threads: \"+1\" is not a whole number" },
        { "try --batch 1,,2", "--batch: \"1,,2\" has an empty item" },
        { "try --batch 1,2,", "--batch: \"1,2,\" has an empty item" },
        { "try --batch 0", "--batch: 0 is not in 1 to 9223372036854775807" },
        { "try --sparsity 1", "--sparsity: 1 is not at least 0 and below 1" },
        { "try --sparsity 0.5,-0.1", "--sparsity: -0.1 is not at least 0 and below 1" },
        { "try --sparsity nan", "--sparsity: \"nan\" is not a number" },
        { "try --sparsity 0x1p-1", "--sparsity: \"0x1p-1\" is not a number" },
        { "try --sparsity 0.5%", "--sparsity: \"0.5%\" is not a number" },
        { "try --sparsity .", "--sparsity: \".\" is not a number" },
        { "try --sparsity 1e", "--sparsity: \"1e\" is not a number" },
        { "try --min-time inf", "--min-time: \"inf\" is not a number" },
        { "try --min-time 1e999", "--min-time: 1e999 is not at least 0 and below 3600" },
        { "try --stride 1,2,3", "--stride: \"1,2,3\" is not one or two numbers" },
        { "try --pad 1,2,3", "--pad: \"1,2,3\" is not P, PH,PW or T,L,B,R" },
        { "try --pad 1,2,3,4,5", "--pad: \"1,2,3,4,5\" is not P, PH,PW or T,L,B,R" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct arguments a;
        assert_int_equal(parse_line(&a, cases[i].line), EXIT_BAD);
        assert_string_equal(complaint(), cases[i].complaint);
        free_arguments(&a);
    }
}

static void refuses_positionals_where_none_are_taken(void **state)
{
    (void)state;
    static const struct option_spec none[] = { { NULL, OPTION_FLAG, NULL, 0, 0, 0, 0 } };
    char name[] = "try", word[] = "word";
    char *argv[] = { name, word };
    assert_int_equal(options_parse(&try_command, none, 2, argv, NULL), EXIT_BAD);
    assert_string_equal(complaint(), "word: try takes no such argument");
}

static void suggests_only_what_is_near(void **state)
{
    (void)state;
    struct nearest nearest = nearest_to("bnech");
    nearest_consider(&nearest, "verify");
    assert_null(nearest.best);
    nearest_consider(&nearest, "bench");
    nearest_consider(&nearest, "branch");
    assert_string_equal(nearest.best, "bench");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_every_kind),
        cmocka_unit_test(keeps_defaults),
        cmocka_unit_test(shows_help),
        cmocka_unit_test(refuses),
        cmocka_unit_test(refuses_positionals_where_none_are_taken),
        cmocka_unit_test(suggests_only_what_is_near),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
