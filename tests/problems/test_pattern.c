/* Generated weights: exact counts, the same everywhere, as uneven as measured. */
#include "complain.h"
#include "problem/pattern.h"
#include "random.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static csrconv_geometry layer(int64_t filters, int64_t channels, int64_t kernel, int64_t groups)
{
    csrconv_geometry g;
    csrconv_geometry_init(&g);
    g.height = g.width = 14;
    g.filters = filters;
    g.channels = channels;
    g.kernel_h = g.kernel_w = kernel;
    g.groups = groups;
    return g;
}

static int64_t size_of(const csrconv_geometry *g)
{
    return g->filters * (g->channels / g->groups) * g->kernel_h * g->kernel_w;
}

static float *generate(const csrconv_geometry *g, double sparsity, uint64_t seed,
                       enum pattern_values values)
{
    float *weights = malloc((size_t)size_of(g) * sizeof *weights);
    assert_non_null(weights);
    memset(weights, 0xff, (size_t)size_of(g) * sizeof *weights); /* NaN */
    if (pattern_generate(g, sparsity, seed, values, weights) != EXIT_DONE)
        fail_msg("%s", complaint());
    return weights;
}

static int64_t count_zeros(const float *weights, int64_t size)
{
    int64_t zeros = 0;
    for (int64_t i = 0; i < size; i++)
        zeros += weights[i] == 0;
    return zeros;
}

static void zeros_are_exact(void **state)
{
    (void)state;
    static const double sparsities[] = { 0, 0.001, 0.3, 0.5, 0.856455, 0.9, 0.98, 0.999, 0.99999 };
    const csrconv_geometry layers[] = {
        layer(1, 1, 1, 1), layer(1, 1, 3, 1),    layer(7, 5, 1, 1),
        layer(6, 8, 3, 2), layer(33, 33, 3, 33), layer(3, 2, 11, 1)
    };
    for (size_t i = 0; i < sizeof layers / sizeof *layers; i++)
        for (size_t j = 0; j < sizeof sparsities / sizeof *sparsities; j++) {
            const int64_t size = size_of(&layers[i]);
            float *weights = generate(&layers[i], sparsities[j], 3, PATTERN_REAL);
            assert_int_equal(count_zeros(weights, size), llround(sparsities[j] * (double)size));
            free(weights);
        }
}

static void values_are_in_range(void **state)
{
    (void)state;
    const csrconv_geometry g = layer(64, 64, 3, 1);
    float *reals = generate(&g, 0, 1, PATTERN_REAL);
    float *integers = generate(&g, 0, 1, PATTERN_INTEGERS);
    double sum = 0, sum_of_integers = 0;
    for (int64_t i = 0; i < size_of(&g); i++) {
        assert_true(fabsf(reals[i]) <= 1 && fabsf(reals[i]) >= 0x1p-23F);
        assert_true(fabsf(integers[i]) == 1 || fabsf(integers[i]) == 2);
        sum += (double)reals[i];
        sum_of_integers += (double)fabsf(integers[i]);
    }
    assert_true(fabs(sum / (double)size_of(&g)) < 0.01);
    assert_true(fabs(sum_of_integers / (double)size_of(&g) - 1.5) < 0.01);
    free(reals);
    free(integers);
}

/* FNV-1a over the bits, so that every machine is compared with the one that wrote these. */
static uint64_t digest(const float *weights, int64_t size)
{
    uint64_t hash = 0xcbf29ce484222325U;
    for (int64_t i = 0; i < size; i++) {
        uint32_t bits;
        memcpy(&bits, weights + i, sizeof bits);
        hash = (hash ^ bits) * 0x100000001b3U;
    }
    return hash;
}

static void is_the_same_everywhere(void **state)
{
    (void)state;
    const csrconv_geometry spatial = layer(24, 16, 3, 2), pointwise = layer(24, 16, 1, 1);
    const struct {
        const csrconv_geometry *g;
        uint64_t seed;
        enum pattern_values values;
        uint64_t digest;
    } cases[] = {
        { &spatial, 1, PATTERN_REAL, 0x2794450468f14deb },
        { &spatial, 2, PATTERN_REAL, 0xad2de023578870f9 },
        { &spatial, 1, PATTERN_INTEGERS, 0x96fd748baf734a25 },
        { &pointwise, 1, PATTERN_REAL, 0x101fdfb7417b3847 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        float *weights = generate(cases[i].g, 0.9, cases[i].seed, cases[i].values);
        const uint64_t found = digest(weights, size_of(cases[i].g));
        free(weights);
        if (found != cases[i].digest)
            fail_msg("case %zu: 0x%llx", i, (unsigned long long)found);
    }
    char name[PATTERN_NAME_SIZE];
    pattern_name(UINT64_MAX, name);
    assert_string_equal(name, "dlmc-like:seed=18446744073709551615");
}

static void higher_sparsity_keeps_a_subset(void **state)
{
    (void)state;
    const csrconv_geometry g = layer(32, 32, 3, 1);
    float *more = generate(&g, 0.5, 9, PATTERN_REAL);
    float *fewer = generate(&g, 0.95, 9, PATTERN_REAL);
    for (int64_t i = 0; i < size_of(&g); i++)
        assert_true(fewer[i] == 0 || fewer[i] == more[i]);
    free(more);
    free(fewer);
}

struct unevenness {
    double filters, channels; /* deviation / mean of the nonzeros in them */
    double empty_kernels;     /* fraction */
};

static double relative_deviation(const int64_t *counts, int64_t size)
{
    double sum = 0, squares = 0;
    for (int64_t i = 0; i < size; i++) {
        sum += (double)counts[i];
        squares += (double)counts[i] * (double)counts[i];
    }
    const double mean = sum / (double)size;
    return sqrt(squares / (double)size - mean * mean) / mean;
}

static struct unevenness measure(const csrconv_geometry *g, double sparsity)
{
    enum { MOST = 512 };
    int64_t filters[MOST] = { 0 }, channels[MOST] = { 0 }, empty = 0;
    const int64_t area = g->kernel_h * g->kernel_w;
    float *weights = generate(g, sparsity, 1, PATTERN_REAL);
    for (int64_t m = 0; m < g->filters; m++)
        for (int64_t c = 0; c < g->channels; c++) {
            const float *kernel = weights + (m * g->channels + c) * area;
            const int64_t nonzeros = area - count_zeros(kernel, area);
            filters[m] += nonzeros;
            channels[c] += nonzeros;
            empty += nonzeros == 0;
        }
    free(weights);
    return (struct unevenness){ relative_deviation(filters, g->filters),
                                relative_deviation(channels, g->channels),
                                (double)empty / (double)(g->filters * g->channels) };
}

/* Between the 10 % and 90 % quantiles of the real layers for filters: docs/patterns.md. */
static void is_as_uneven_as_real_layers(void **state)
{
    (void)state;
    const csrconv_geometry pointwise = layer(256, 512, 1, 1), spatial = layer(256, 256, 3, 1);
    const struct {
        const csrconv_geometry *g;
        double sparsity, least, most, least_empty, most_empty;
    } ranges[] = {
        { &pointwise, 0.5, 0.06, 0.30, 0.5, 0.5 },    { &pointwise, 0.9, 0.20, 0.85, 0.9, 0.9 },
        { &pointwise, 0.98, 0.27, 1.37, 0.98, 0.98 }, { &spatial, 0.5, 0.05, 0.15, 0.01, 0.05 },
        { &spatial, 0.7, 0.07, 0.24, 0.12, 0.20 },    { &spatial, 0.8, 0.10, 0.29, 0.25, 0.36 },
        { &spatial, 0.9, 0.15, 0.43, 0.52, 0.66 },    { &spatial, 0.95, 0.20, 0.48, 0.70, 0.80 },
        { &spatial, 0.98, 0.20, 0.62, 0.86, 0.91 },
    };
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        const struct unevenness u = measure(ranges[i].g, ranges[i].sparsity);
        if (u.filters < ranges[i].least || u.filters > ranges[i].most || u.channels < 0.1 ||
            u.channels > 1.5 || u.empty_kernels < ranges[i].least_empty - 1e-4 ||
            u.empty_kernels > ranges[i].most_empty + 1e-4)
            fail_msg("range %zu: filters %.3f, channels %.3f, empty kernels %.3f", i, u.filters,
                     u.channels, u.empty_kernels);
    }
}

static void rejects_what_it_cannot_make(void **state)
{
    (void)state;
    const double bad[] = { -0.1, 1, 1.5, (double)NAN };
    csrconv_geometry g = layer(1, 1, 1, 1);
    float weight;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(pattern_generate(&g, bad[i], 1, PATTERN_REAL, &weight), EXIT_BAD);
    g = layer(INT64_MAX / 4, 1, 3, 1);
    assert_int_equal(pattern_generate(&g, 0.5, 1, PATTERN_REAL, &weight), EXIT_BAD);
    assert_non_null(strstr(complaint(), "overflows"));
}

static void random_numbers_are_fair(void **state)
{
    (void)state;
    struct random_state random;
    int counts[10] = { 0 };
    double sum = 0;
    random_seed(&random, 0);
    for (int i = 0; i < 100000; i++) {
        counts[random_below(&random, 10)]++;
        const double unit = random_unit(&random);
        assert_true(unit >= 0 && unit < 1);
        sum += unit;
        assert_int_equal(random_below(&random, 1), 0);
    }
    for (int i = 0; i < 10; i++)
        assert_in_range(counts[i], 9600, 10400);
    assert_true(fabs(sum / 100000 - 0.5) < 0.005);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(zeros_are_exact),
        cmocka_unit_test(values_are_in_range),
        cmocka_unit_test(is_the_same_everywhere),
        cmocka_unit_test(higher_sparsity_keeps_a_subset),
        cmocka_unit_test(is_as_uneven_as_real_layers),
        cmocka_unit_test(rejects_what_it_cannot_make),
        cmocka_unit_test(random_numbers_are_fair),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
