/* The committed network tables, and tables with faults. Argument: the directory of the tables. */
#include "complain.h"
#include "problem/network.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const char *const table_path = "./test_network.csv";

struct facts {
    const char *network;
    size_t layers, published; /* in all, and with a sparsity of 0.5 or more */
    int64_t batch;
    double gigaflops; /* dense multiplications and additions of one image, all layers */
};

static const struct facts facts[] = {
    { "alexnet", 5, 4, 128, 1.33 },
    { "alexnet_han2015", 5, 4, 128, 1.33 },
    { "googlenet", 59, 19, 128, 3.17 },
    { "mobilenet_v1", 27, 12, 1, 1.14 },
    { "resnet18", 20, 0, 32, 3.63 },
    { "resnet50", 53, 16, 32, 7.71 },
    { "resnet50_v1_5", 53, 0, 32, 8.18 },
    { "resnet50_sparsert90", 4, 3, 1, 0.92 },
    { "resnet50_sparsert95", 4, 3, 1, 0.92 },
    { "tutorials", 1, 1, 256, 0.46 },
    { "vgg16", 13, 0, 32, 30.69 },
};

static double gigaflops(const struct problem_list *list)
{
    double sum = 0;
    for (size_t i = 0; i < list->count; i++) {
        const csrconv_geometry *g = &list->items[i].geometry;
        int64_t out_h = 0, out_w = 0;
        assert_int_equal(csrconv_output_size(g, &out_h, &out_w), CSRCONV_OK);
        const int64_t weights = g->filters * (g->channels / g->groups) * g->kernel_h * g->kernel_w;
        sum += 2e-9 * (double)(weights * out_h * out_w);
    }
    return sum;
}

static void check_layers(const struct facts *fact, const struct problem_list *list)
{
    char prefix[64];
    snprintf(prefix, sizeof prefix, "%s:", fact->network);
    for (size_t i = 0; i < list->count; i++) {
        assert_int_equal(strncmp(list->items[i].name, prefix, strlen(prefix)), 0);
        assert_int_equal(list->items[i].batch_default, fact->batch);
        assert_int_equal(list->items[i].geometry.batch, fact->batch);
    }
}

static void tables_state_the_facts(void **state)
{
    const char *const directories[] = { "no such directory", *state, NULL };
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
        struct problem_list all = { 0 }, published = { 0 };
        if (network_load(directories, facts[i].network, true, &all) != EXIT_DONE)
            fail_msg("%s", complaint());
        const int code = network_load(directories, facts[i].network, false, &published);
        assert_int_equal(code, facts[i].published ? EXIT_DONE : EXIT_BAD);
        if (!facts[i].published)
            assert_non_null(strstr(complaint(), "--all-layers"));
        assert_int_equal(all.count, facts[i].layers);
        assert_int_equal(published.count, facts[i].published);
        check_layers(&facts[i], &all);
        const double off = gigaflops(&all) - facts[i].gigaflops;
        if (off < -0.006 || off > 0.006)
            fail_msg("%s: %.3f GFLOP", facts[i].network, gigaflops(&all));
        problem_list_clear(&all);
        problem_list_clear(&published);
    }
}

static void finds_a_layer(void **state)
{
    const char *const directories[] = { *state, NULL };
    struct problem_list list = { 0 };
    assert_int_equal(network_load(directories, "alexnet", false, &list), EXIT_DONE);
    const csrconv_geometry *g = &list.items[0].geometry;
    assert_string_equal(list.items[0].name, "alexnet:conv2");
    assert_true(list.items[0].sparsity == 0.856455);
    assert_int_equal(g->groups, 2);
    assert_int_equal(g->channels, 96);
    assert_int_equal(g->filters, 256);
    assert_int_equal(g->kernel_w, 5);
    assert_int_equal(g->pad_bottom, 2);
    problem_list_clear(&list);
    assert_int_equal(network_load(directories, "alexnet2", false, &list), EXIT_BAD);
    assert_non_null(strstr(complaint(), "alexnet2: no network"));
    assert_int_equal(network_load(network_directories, "googlenet", false, &list), EXIT_DONE);
    problem_list_clear(&list);
}

static int load_text(const char *text, bool all_layers, struct problem_list *list)
{
    FILE *file = fopen(table_path, "wb");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
    complain_clear();
    const int code = network_load(network_directories, table_path, all_layers, list);
    remove(table_path);
    return code;
}

/* The columns that a table may lack, and the name that it then has. */
static void reads_small_tables(void **state)
{
    (void)state;
    struct problem_list list = { 0 };
    const char *text = "R,layer,S,C,H,W,M,comment\n3,\"a,b\",1,8,7,6,5,\"x\"\n";
    assert_int_equal(load_text(text, true, &list), EXIT_DONE);
    assert_int_equal(list.count, 1);
    csrconv_geometry want;
    csrconv_geometry_init(&want);
    want.channels = 8;
    want.height = 7;
    want.width = 6;
    want.filters = 5;
    want.kernel_h = 3;
    want.kernel_w = 1;
    assert_memory_equal(&list.items[0].geometry, &want, sizeof want);
    assert_string_equal(list.items[0].name, "test_network:a,b");
    assert_true(list.items[0].sparsity < 0);
    assert_int_equal(load_text(text, false, &list), EXIT_BAD);
    assert_non_null(strstr(complaint(), "none of its 1 layers"));
    problem_list_clear(&list);
}

#define HEADER "net,layer,C,H,W,M,R,S,stride_h,pad_h,groups,sparsity\n"

static const struct {
    const char *text, *complaint;
} faults[] = {
    { "layer,C,H,W,M,R\n", "./test_network.csv: the header has no column 'S'" },
    { "net,C,H,W,M,R,S\n", "./test_network.csv: the header has no column 'layer'" },
    { HEADER, "./test_network.csv: no layers in it" },
    { HEADER "n,l,4,5,5,4,3,x,1,1,1,\n", "./test_network.csv:2:S: 'x' is no whole number" },
    { HEADER "n,l,4,5,5,4,3,,1,1,1,\n", "./test_network.csv:2:S: '' is no whole number" },
    { HEADER "n,l,4,5,5,4,3,3,0,1,1,\n", "./test_network.csv:2:stride_h: 0 is less than 1" },
    { HEADER "n,l,4,5,5,4,3,3,1,-1,1,\n", "./test_network.csv:2:pad_h: -1 is less than 0" },
    { HEADER "n,l,4,5,5,4,3,3,1,1,1,1\n", "./test_network.csv:2:sparsity: a sparsity is" },
    { HEADER "n,l,4,5,5,4,3,3,1,1,1,90%\n", "./test_network.csv:2:sparsity: '90%' is no" },
    { HEADER "n,,4,5,5,4,3,3,1,1,1,\n", "./test_network.csv:2:layer: the name is missing" },
    { HEADER ",l,4,5,5,4,3,3,1,1,1,\n", "./test_network.csv:2:net: the name is missing" },
    { HEADER "n,l,4,5,5,4,3,3,1,1,3,\n", "./test_network.csv:2: groups 3 does not divide" },
    { HEADER "n,l,4,5,5,4,9,3,1,1,1,\n", "./test_network.csv:2: the output is empty" },
    { HEADER "n,l,4,5,5,4,3,3,1,1,1,.9\nn,m,4,5\n", "./test_network.csv:3: 4 cells" },
};

static void names_faulty_cells(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        struct problem_list list = { 0 };
        const int code = load_text(faults[i].text, true, &list);
        problem_list_clear(&list);
        if (code != EXIT_BAD ||
            strncmp(complaint(), faults[i].complaint, strlen(faults[i].complaint)) != 0)
            fail_msg("fault %zu: code %d, complaint: %s", i, code, complaint());
    }
}

int main(int argc, char **argv)
{
    (void)argc;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(tables_state_the_facts, argv[1]),
        cmocka_unit_test_prestate(finds_a_layer, argv[1]),
        cmocka_unit_test(reads_small_tables),
        cmocka_unit_test(names_faulty_cells),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
