/*
 * Where cuda_split cuts channels, beside the best cut of all; and that filters and what they have
 * in a chunk are dealt, each once, such that nobody has much more to do than others.
 */
#include "tile_fixture.h"

#include "split_cut.h"
#include "split_deal.h"

#include <math.h>
#include <stdlib.h>

enum { ROUNDS = 200, MOST_SEGMENTS = 128 };

/* What a slice counts: its nonzeros, and its channels as 15 % of a mean one's nonzeros. */
static double work_of(const struct csrconv_slices *s, int64_t slice, double nonzeros)
{
    const int64_t left = s->channels - slice * s->slice_channels;
    const int64_t channels = left < s->slice_channels ? left : s->slice_channels;
    return (double)s->nonzeros[slice] + 0.15 * nonzeros / (double)s->channels * (double)channels;
}

/* The least that the fullest of `chunks` runs of at most `most` slices can have; all ways tried. */
static double best_cut(const double *work, int64_t count, int64_t chunks, int64_t most)
{
    double best[CSRCONV_MOST_SLICES + 1];
    for (int64_t i = 0; i <= count; i++)
        best[i] = i == 0 ? 0.0 : (double)INFINITY;
    for (int64_t chunk = 0; chunk < chunks; chunk++)
        for (int64_t end = count; end >= 0; end--) {
            double sum = 0.0, least = (double)INFINITY;
            for (int64_t begin = end - 1; begin >= 0 && end - begin <= most; begin--) {
                sum += work[begin];
                least = fmin(least, fmax(sum, best[begin]));
            }
            best[end] = least;
        }
    return best[count];
}

static void check_cut(const struct csrconv_slices *s, int64_t chunks)
{
    struct csrconv_split_cut cut;
    double work[CSRCONV_MOST_SLICES], nonzeros = 0.0, fullest = 0.0, most_nonzeros = 0.0;
    const double mean = (double)s->count / (double)chunks;
    const int64_t most = (int64_t)fmax(ceil(mean), floor(1.25 * mean));
    int64_t widest = 0;
    if (!csrconv_split_cut(s, chunks, &cut)) {
        assert_true(s->count < chunks);
        return;
    }
    for (int64_t i = 0; i < s->count; i++)
        nonzeros += (double)s->nonzeros[i];
    for (int64_t i = 0; i < s->count; i++)
        work[i] = work_of(s, i, nonzeros);
    assert_int_equal(cut.first[0], 0);
    assert_int_equal(cut.first[chunks], s->channels);
    for (int64_t chunk = 0; chunk < chunks; chunk++) {
        const int64_t begin = cut.first[chunk], end = cut.first[chunk + 1];
        double sum = 0.0, count = 0.0;
        assert_true(end > begin);
        assert_true(chunk == chunks - 1 || end % s->slice_channels == 0);
        for (int64_t i = begin / s->slice_channels; i * s->slice_channels < end; i++) {
            sum += work[i];
            count += (double)s->nonzeros[i];
        }
        fullest = fmax(fullest, sum);
        most_nonzeros = fmax(most_nonzeros, count);
        widest = end - begin > widest ? end - begin : widest;
    }
    assert_int_equal(cut.most_channels, widest);
    assert_true(widest <= most * s->slice_channels);
    assert_true(fabs(cut.heaviest - most_nonzeros * (double)chunks / fmax(1.0, nonzeros)) < 1e-9);
    assert_true(fullest <= best_cut(work, s->count, chunks, most) * (1.0 + 1e-6));
}

static void no_cut_is_better(void **state)
{
    struct random_state random;
    (void)state;
    random_seed(&random, 21);
    for (int round = 0; round < ROUNDS; round++) {
        struct csrconv_slices s = { .slice_channels = random_between(&random, 1, 3) };
        s.channels = random_between(&random, 1, s.slice_channels * 40);
        s.count = (s.channels - 1) / s.slice_channels + 1;
        for (int64_t i = 0; i < s.count; i++)
            s.nonzeros[i] = round % 4 == 0 ? 0 : random_between(&random, 0, 100);
        s.nonzeros[s.count / 2] += round % 3 == 0 ? 3000 : 0;
        for (int64_t chunks = 1; chunks <= CSRCONV_MOST_CHUNKS; chunks++)
            check_cut(&s, chunks);
    }
}

/* Of 600 channels three are a slice; the 600 of both groups count together. */
static void slices_have_their_nonzeros(void **state)
{
    csrconv_geometry g = geometry_of(600, 5, 5, 6, 3, 3);
    csrconv_weights *weights = uneven_weights(&g);
    struct csrconv_problem problem = { .weights = weights };
    struct csrconv_slices slices;
    int64_t nonzeros[200] = { 0 };
    (void)state;
    g.groups = 2;
    g.channels = 1200;
    assert_ok(csrconv_shape_init(&problem.shape, &g));
    for (int64_t i = 0; i < weights->indptr[weights->filters]; i++)
        nonzeros[weights->indices[i] / 9 / 3]++;
    csrconv_slices_init(&problem, &slices);
    assert_int_equal(slices.channels, 600);
    assert_int_equal(slices.slice_channels, 3);
    assert_int_equal(slices.count, 200);
    for (int64_t i = 0; i < slices.count; i++)
        assert_int_equal(slices.nonzeros[i], nonzeros[i]);
    csrconv_weights_destroy(&weights);
}

/* Halves of quads, as dealt. */
static int64_t half_quads(int64_t nonzeros)
{
    return 2 * ((nonzeros + 1) / 2) + 1;
}

/* No warp has more than the mean and one segment. */
static void warps_have_about_the_mean(void **state)
{
    struct random_state random;
    (void)state;
    random_seed(&random, 22);
    for (int round = 0; round < ROUNDS; round++) {
        struct csrconv_chunk_segment segments[MOST_SEGMENTS];
        const int64_t count = random_between(&random, 1, MOST_SEGMENTS);
        const int64_t ways = random_between(&random, 1, 16);
        int64_t work[16] = { 0 }, seen[MOST_SEGMENTS] = { 0 }, all = 0, longest = 0;
        for (int64_t i = 0; i < count; i++)
            segments[i] = (struct csrconv_chunk_segment){
                .place = i, .from = 7, .to = 7 + random_between(&random, 0, round)
            };
        csrconv_deal_segments(segments, count, ways);
        for (int64_t i = 0; i < count; i++) {
            const int64_t own = half_quads(segments[i].to - segments[i].from);
            assert_in_range(segments[i].way, 0, ways - 1);
            assert_int_equal(seen[segments[i].place]++, 0);
            work[segments[i].way] += own;
            all += own;
            longest = own > longest ? own : longest;
        }
        for (int64_t way = 0; way < ways; way++)
            assert_true(work[way] * ways <= all + longest * (ways - 1));
    }
}

/* Shortest first, the long one would come on top of two others. */
static void long_segments_are_dealt_first(void **state)
{
    struct csrconv_chunk_segment segments[5] = {
        { .to = 8 }, { .to = 8 }, { .to = 8 }, { .to = 8 }, { .to = 32 }
    };
    int64_t work[2] = { 0 };
    (void)state;
    csrconv_deal_segments(segments, 5, 2);
    for (int64_t i = 0; i < 5; i++)
        work[segments[i].way] += segments[i].to;
    assert_int_equal(work[0], 32);
    assert_int_equal(work[1], 32);
}

/* The half quads that the fullest block has, over the mean. */
static double fullest_block(const struct csrconv_split_tiling *t, const int64_t *ends,
                            const int64_t *place_filter)
{
    const int64_t chunks = t->block.stages;
    int64_t most = 0, all = 0;
    for (int64_t tile = 0; tile < t->block.filter_tiles; tile++)
        for (int64_t chunk = 0; chunk < chunks; chunk++) {
            int64_t work = 0;
            for (int64_t i = 0; i < t->places; i++) {
                const int64_t filter = place_filter[tile * t->places + i];
                const int64_t *end = ends + filter * (chunks + 1) + chunk;
                work += filter < 0 ? 0 : half_quads(end[1] - end[0]);
            }
            most = work > most ? work : most;
            all += work;
        }
    return (double)(most * t->block.filter_tiles * chunks) / (double)all;
}

/* Filters of two kinds, with nonzeros in one half of the channels or in the other. */
static csrconv_weights *halved_weights(const csrconv_geometry *g)
{
    float *dense = calloc((size_t)(g->filters * g->channels), sizeof *dense);
    csrconv_weights *weights;
    assert_non_null(dense);
    for (int64_t m = 0; m < g->filters; m++)
        for (int64_t c = 0; c < g->channels; c++)
            dense[m * g->channels + c] = c * 2 / g->channels == m / 4 % 2 ? 1.0F : 0.0F;
    assert_ok(csrconv_weights_from_dense(dense, g->filters, g->channels, 1, 1, NULL, &weights));
    free(dense);
    return weights;
}

/* 22 filters of one group in 4 tiles of 6: dealt by their length alone, tiles would have one kind.
 */
static void tiles_have_equal_work_in_each_chunk(void **state)
{
    const csrconv_geometry g = geometry_of(64, 7, 7, 22, 1, 1);
    const struct csrconv_split_tiling tiling = { .block = { .stages = 2, .filter_tiles = 4 },
                                                 .places = 6,
                                                 .first_channel = { 0, 32, 64 } };
    csrconv_weights *weights = halved_weights(&g);
    struct csrconv_problem problem = { .weights = weights };
    struct csrconv_memory memory;
    int64_t ends[22 * 3], place_filter[24], seen[22] = { 0 };
    (void)state;
    assert_ok(csrconv_shape_init(&problem.shape, &g));
    assert_ok(csrconv_memory_init(&memory, NULL));
    csrconv_find_ends(&problem, &tiling, 0, ends);
    assert_ok(csrconv_deal_filters(&problem, &tiling, 0, ends, &memory, place_filter));
    for (int64_t i = 0; i < 24; i++)
        if (place_filter[i] >= 0) {
            assert_in_range(place_filter[i], 0, 21);
            seen[place_filter[i]]++;
        }
    for (int64_t i = 0; i < 22; i++)
        assert_int_equal(seen[i], 1);
    assert_true(fullest_block(&tiling, ends, place_filter) < 1.15);
    csrconv_weights_destroy(&weights);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_cut_is_better),
        cmocka_unit_test(slices_have_their_nonzeros),
        cmocka_unit_test(warps_have_about_the_mean),
        cmocka_unit_test(long_segments_are_dealt_first),
        cmocka_unit_test(tiles_have_equal_work_in_each_chunk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
