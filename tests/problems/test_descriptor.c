/* The grammar of descriptors: what is accepted and what it means, what is rejected and how. */
#include "complain.h"
#include "problem/descriptor.h"
#include "random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

struct accepted {
    const char *text, *canonical, *name;
};

static const struct accepted accepted[] = {
    /* examples of benchdnn's lists */
    { "g1mb256ic3ih227iw227oc96oh55ow55kh11kw11sh4sw4ph0pw0n\"alexnet:conv1\"",
      "mb256ic3ih227oc96oh55kh11sh4ph0", "alexnet:conv1" },
    { "g2mb256ic96ih27oc256oh27kh5ph2n\"alexnet:conv2\"", "g2mb256ic96ih27oc256oh27kh5ph2",
      "alexnet:conv2" },
    { "ic64ih56oc64oh56kh3ph1n\"resnet:res2a*3\"", "mb2ic64ih56oc64oh56kh3ph1", "resnet:res2a*3" },
    /* separators, names, order */
    { "g1mb1_ic3ih5iw6_oc2_kh3kw2_sh1sw1_ph1pw0_dh0dw0_nplain name",
      "mb1ic3ih5iw6oc2oh5ow5kh3kw2ph1pw0", "plain name" },
    { "kh3oc2ih5ic3n\"a\"*2", "mb2ic3ih5oc2oh3kh3ph0", "a*2" },
    { "ic3ih5oc2kh3_n", "mb2ic3ih5oc2oh3kh3ph0", "ic3ih5oc2kh3" },
    { "ic3ih5oc2kh3n\"\"", "mb2ic3ih5oc2oh3kh3ph0", "ic3ih5oc2kh3" },
    { "ic3ih5oc2kh3", "mb2ic3ih5oc2oh3kh3ph0", "ic3ih5oc2kh3" },
    { "ic3ih5ih7oc2kh3", "mb2ic3ih7oc2oh5kh3ph0", "ic3ih5ih7oc2kh3" },
    /* output from padding, padding from output, halves rounded down in front */
    { "ic1ih8oc1kh3sh2ph1nx", "mb2ic1ih8oc1oh4kh3sh2ph1", "x" },
    { "ic1ih8oc1oh8kh3nx", "mb2ic1ih8oc1oh8kh3ph1", "x" },
    { "ic1ih8oc1oh8kh4nx", "mb2ic1ih8oc1oh8kh4ph1", "x" },
    { "ic1ih8oc1oh8kh3dh1nx", "mb2ic1ih8oc1oh8kh3ph2dh1", "x" },
    { "ic1ih8oc1oh0kh3nx", "mb2ic1ih8oc1oh6kh3ph0", "x" },
    /* rows left over: less than a stride */
    { "ic1ih7oc1oh2kh2sh4ph0nx", "mb2ic1ih7oc1oh2kh2sh4ph0", "x" },
    { "ic1ih56oc1oh28kh1sh2nx", "mb2ic1ih56oc1oh28kh1sh2ph0", "x" },
    /* one axis only */
    { "ic1iw8oc1kw3pw1nx", "mb2ic1ih1iw8oc1oh1ow8kh1kw3ph0pw1", "x" },
    { "ic1iw8oc1kw3sh1ph0dh0nx", "mb2ic1ih1iw8oc1oh1ow6kh1kw3ph0pw0", "x" },
    { "ic1ih8oc1kh3ph1sw1dw0pw0nx", "mb2ic1ih8oc1oh8kh3ph1", "x" },
    /* w on its own, then completed by h because benchdnn has no meaning for it */
    { "ic1ih8iw9oc1kh3kw3sh2ph1nx", "mb2ic1ih8iw9oc1oh4ow7kh3kw3sh2sw1ph1pw0", "x" },
    { "ic1ih8iw9oc1kh3sh2ph1dh1nx", "mb2ic1ih8iw9oc1oh3ow4kh3kw3sh2sw2ph1pw1dh1dw1", "x" },
};

static void accepts(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof accepted / sizeof *accepted; i++) {
        struct problem problem;
        char text[PROBLEM_TEXT_SIZE];
        complain_clear();
        if (descriptor_parse("test", accepted[i].text, &problem) != EXIT_DONE)
            fail_msg("%s: %s", accepted[i].text, complaint());
        problem_format(&problem.geometry, text);
        assert_string_equal(text, accepted[i].canonical);
        assert_string_equal(problem.name, accepted[i].name);
        assert_true(problem.sparsity < 0);
        assert_int_equal(problem.batch_default, problem.geometry.batch);
    }
}

struct rejected {
    const char *text;
    int code;
    const char *complaint; /* a part of it */
};

static const struct rejected rejected[] = {
    { "", EXIT_BAD, "channels is missing (ic)" },
    { "ih5oc2kh3", EXIT_BAD, "(ic)" },
    { "ic3ih5kh3", EXIT_BAD, "(oc)" },
    { "ic3oc2", EXIT_BAD, "(ih or iw)" },
    { "ic3oc2kh3", EXIT_BAD, "(ih)" },
    { "ic3oc2ih5", EXIT_BAD, "(kh)" },
    { "ic3oc2iw5", EXIT_BAD, "(kw)" },
    { "ic3ih5oc2kh", EXIT_BAD, "missing after the key at 'kh'" },
    { "ic3ih5oc2kh-3", EXIT_BAD, "missing after the key at 'kh-3'" },
    { "ic3ih5oc2kh 3", EXIT_BAD, "missing after the key at 'kh 3'" },
    { "ic3ih5oc2khn", EXIT_BAD, "missing after the key at 'khn'" },
    { "ic3ih5oc2kh3x1", EXIT_BAD, "unknown key at 'x1'" },
    { "ic3ih5oc2kh3 ", EXIT_BAD, "unknown key at ' '" },
    { "ic3ih5oc2kh3__n", EXIT_BAD, "unknown key at '_n'" },
    { "_ic3ih5oc2kh3", EXIT_BAD, "unknown key at '_ic3" },
    { "ic3ih5oc2kh3k", EXIT_BAD, "unknown key at 'k'" },
    { "IC3ih5oc2kh3", EXIT_BAD, "unknown key at 'IC3" },
    { "--mb=1", EXIT_BAD, "unknown key at '--mb=1'" },
    { "ic99999999999999999999ih5oc2kh3", EXIT_BAD, "more than 64 bits" },
    { "ic3ih5oc2kh3ph9223372036854775807", EXIT_BAD, "overflow" },
    { "ic3ih5oc2kh9223372036854775807dh9", EXIT_BAD, "overflow" },
    { "ic3ih5oc2kh3dh9223372036854775807", EXIT_BAD, "overflow" },
    { "ic3ih5oc2oh9223372036854775807kh3sh9", EXIT_BAD, "overflow" },
    { "mb9223372036854775807ic3ih5oc2kh3", EXIT_BAD, "overflow" },
    { "ic3ih5oc2kh3sh0", EXIT_BAD, "sh is 0" },
    { "ic3ih5oc2kh3sw0", EXIT_BAD, "sw is 0" },
    { "mb0ic3ih5oc2kh3", EXIT_BAD, "batch" },
    { "g0ic3ih5oc2kh3", EXIT_BAD, "groups" },
    { "g2ic3ih5oc2kh3", EXIT_BAD, "groups" },
    { "g2ic4ih5oc3kh3", EXIT_BAD, "groups" },
    { "ic3ih5oc2kh6", EXIT_BAD, "output is empty" },
    { "ic3ih5oc2kh3dh2", EXIT_BAD, "output is empty" },
    { "ic3ih5oc2kh3n\"open", EXIT_BAD, "quote" },
    { "ic3ih5oc2kh3na\nb", EXIT_BAD, "control character" },
    /* refused: crops and three dimensions */
    { "ic3ih13oc2oh5kh3ph0", EXIT_REFUSED, "oh5 leaves out 6" },
    { "ic3ih13oc2oh5kh3", EXIT_REFUSED, "oh5 leaves out 6" },
    { "ic3ih8oc2oh2kh2sh3ph0", EXIT_REFUSED, "oh2 leaves out 3" },
    { "ic3ih8oc2oh8kh3ph3", EXIT_REFUSED, "crop" },
    { "ic3id5oc2kd3", EXIT_REFUSED, "id: three-dimensional" },
    { "ic3id1ih5oc2kd1kh3", EXIT_REFUSED, "id: three-dimensional" },
    { "ic3ih5oc2kh3dd0", EXIT_REFUSED, "dd: three-dimensional" },
};

static void rejects(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rejected / sizeof *rejected; i++) {
        struct problem problem;
        complain_clear();
        const int code = descriptor_parse(rejected[i].text, rejected[i].text, &problem);
        if (code != rejected[i].code || !strstr(complaint(), rejected[i].complaint) ||
            (!strchr(rejected[i].text, '\n') &&
             strncmp(complaint(), rejected[i].text, strlen(rejected[i].text)) != 0))
            fail_msg("%s: code %d, complaint: %s", rejected[i].text, code, complaint());
    }
}

/* Names of 127 bytes fit; without one a text too long to be a name is replaced. */
static void limits_names(void **state)
{
    (void)state;
    const char *text = "ic3ih5oc2kh3n";
    char long_text[400];
    struct problem problem;
    for (int length = 127; length <= 128; length++) {
        snprintf(long_text, sizeof long_text, "%s%0*d", text, length, 7);
        assert_int_equal(descriptor_parse("test", long_text, &problem),
                         length == 127 ? EXIT_DONE : EXIT_BAD);
    }
    snprintf(long_text, sizeof long_text, "ic3ih5oc2kh%0200d", 3);
    assert_int_equal(descriptor_parse("test", long_text, &problem), EXIT_DONE);
    assert_string_equal(problem.name, "mb2ic3ih5oc2oh3kh3ph0");
}

static csrconv_geometry random_geometry(struct random_state *random)
{
    csrconv_geometry g;
    csrconv_geometry_init(&g);
    g.groups = 1 + (int64_t)random_below(random, 3);
    g.batch = 1 + (int64_t)random_below(random, 4);
    g.channels = g.groups * (1 + (int64_t)random_below(random, 3));
    g.filters = g.groups * (1 + (int64_t)random_below(random, 3));
    g.height = 1 + (int64_t)random_below(random, 12);
    g.width = random_below(random, 2) ? g.height : 1 + (int64_t)random_below(random, 12);
    g.kernel_h = 1 + (int64_t)random_below(random, 4);
    g.kernel_w = random_below(random, 2) ? g.kernel_h : 1 + (int64_t)random_below(random, 4);
    g.stride_h = 1 + (int64_t)random_below(random, 3);
    g.stride_w = random_below(random, 2) ? g.stride_h : 1 + (int64_t)random_below(random, 3);
    g.dilation_h = 1 + (int64_t)random_below(random, 3);
    g.dilation_w = random_below(random, 2) ? g.dilation_h : 1 + (int64_t)random_below(random, 3);
    g.pad_top = (int64_t)random_below(random, 4);
    g.pad_left = random_below(random, 2) ? g.pad_top : (int64_t)random_below(random, 4);
    g.pad_bottom = random_below(random, 2) ? g.pad_top : (int64_t)random_below(random, 4);
    g.pad_right = random_below(random, 2) ? g.pad_left : (int64_t)random_below(random, 4);
    return g;
}

/* What no output reads comes back as no padding. */
static int64_t needed_pad(int64_t size, int64_t kernel, int64_t stride, int64_t dilation,
                          int64_t before, int64_t out)
{
    const int64_t needed = (out - 1) * stride + (kernel - 1) * dilation + 1 - size - before;
    return needed > 0 ? needed : 0;
}

static void formats_and_parses_back(void **state)
{
    (void)state;
    struct random_state random;
    random_seed(&random, 1);
    int valid = 0;
    for (int i = 0; i < 5000; i++) {
        csrconv_geometry g = random_geometry(&random);
        int64_t out_h, out_w;
        if (csrconv_output_size(&g, &out_h, &out_w) != CSRCONV_OK)
            continue;
        valid++;
        char text[PROBLEM_TEXT_SIZE];
        struct problem problem;
        problem_format(&g, text);
        if (descriptor_parse(text, text, &problem) != EXIT_DONE)
            fail_msg("%s", complaint());
        g.pad_bottom = needed_pad(g.height, g.kernel_h, g.stride_h, g.dilation_h, g.pad_top, out_h);
        g.pad_right = needed_pad(g.width, g.kernel_w, g.stride_w, g.dilation_w, g.pad_left, out_w);
        if (memcmp(&g, &problem.geometry, sizeof g) != 0)
            fail_msg("%s came back as another geometry", text);
    }
    assert_true(valid > 2000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accepts),
        cmocka_unit_test(rejects),
        cmocka_unit_test(limits_names),
        cmocka_unit_test(formats_and_parses_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
