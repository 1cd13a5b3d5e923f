/* Segments: every nonzero once, where the kernels will look for it. */
#include "tile_fixture.h"

#include "segments.h"

enum { ROUNDS = 300 };

struct sample {
    csrconv_geometry geometry;
    struct csrconv_shape shape;
    struct csrconv_tile_layout layout;
    csrconv_weights *weights;
    struct csrconv_cut cut;
    struct csrconv_memory memory;
    struct csrconv_segments segments;
};

static void make(struct random_state *state, struct sample *s)
{
    s->geometry = random_geometry(state);
    assert_ok(csrconv_shape_init(&s->shape, &s->geometry));
    assert_ok(csrconv_tile_layout_init(&s->layout, &s->shape, 8, random_below(state, 2)));
    s->weights = random_weights(state, &s->geometry);
    s->cut.block_channels = random_between(state, 1, s->geometry.channels);
    s->cut.chunks = random_between(state, 1, s->geometry.filters + 2);
    s->cut.is_as_they_come = random_below(state, 2);
    assert_ok(csrconv_memory_init(&s->memory, NULL));
    assert_ok(csrconv_segments_make(s->weights, &s->shape, &s->layout, &s->cut, &s->memory,
                                    &s->segments));
}

static void release(struct sample *s)
{
    csrconv_segments_free(&s->memory, &s->segments);
    assert_null(s->segments.nonzeros);
    csrconv_weights_destroy(&s->weights);
}

static void each_sample(void (*check)(const struct sample *sample))
{
    struct random_state random;
    random_seed(&random, 3);
    for (int i = 0; i < ROUNDS; i++) {
        struct sample sample;
        make(&random, &sample);
        check(&sample);
        release(&sample);
    }
}

static int64_t filters_of_chunk(const struct csrconv_segments *s, int64_t chunk)
{
    return s->chunk_begin[chunk + 1] - s->chunk_begin[chunk];
}

static void check_chunks(const struct sample *sample)
{
    const struct csrconv_segments *s = &sample->segments;
    const int64_t filters = sample->geometry.filters;
    int64_t most = 0;
    assert_int_equal(s->chunks, sample->cut.chunks < filters ? sample->cut.chunks : filters);
    assert_int_equal(s->chunk_begin[0], 0);
    assert_int_equal(s->chunk_begin[s->chunks], filters);
    for (int64_t chunk = 0; chunk < s->chunks; chunk++) {
        assert_true(filters_of_chunk(s, chunk) >= 1);
        most = filters_of_chunk(s, chunk) > most ? filters_of_chunk(s, chunk) : most;
    }
    assert_int_equal(s->chunk_filters, most);
}

static void chunks_cover_the_filters(void **state)
{
    (void)state;
    each_sample(check_chunks);
}

/* The next nonzero of a filter, as its segments are walked. */
struct walk {
    int64_t *next; /* by filter */
    int64_t nonzeros;
};

static void check_nonzero(const struct sample *sample, int64_t m, int64_t block, struct walk *walk)
{
    const csrconv_geometry *g = &sample->shape.g;
    const csrconv_weights *w = sample->weights;
    const struct csrconv_nonzero *got = &sample->segments.nonzeros[walk->nonzeros++];
    const int64_t i = walk->next[m]++, column = w->indices[i];
    const int64_t c = m / sample->shape.group_filters * sample->shape.group_channels +
                      column / (g->kernel_h * g->kernel_w);
    assert_true(i < w->indptr[m + 1]);
    assert_int_equal(c / sample->cut.block_channels, block);
    assert_true(got->value == w->values[i]);
    assert_int_equal(got->offset,
                     csrconv_tile_offset(&sample->layout, &sample->shape, c,
                                         column / g->kernel_w % g->kernel_h, column % g->kernel_w));
}

static void check_segment(const struct sample *sample, const struct csrconv_segment *segment,
                          int64_t block, struct walk *walk)
{
    const csrconv_weights *w = sample->weights;
    const int64_t m = segment->filter;
    assert_int_equal(segment[0].begin, walk->nonzeros);
    assert_int_equal(segment->is_first, walk->next[m] == w->indptr[m]);
    while (walk->nonzeros < segment[1].begin)
        check_nonzero(sample, m, block, walk);
}

static void check_block(const struct sample *sample, int64_t chunk, int64_t block,
                        struct walk *walk)
{
    const struct csrconv_segments *s = &sample->segments;
    const int64_t *begin = &s->block_begin[chunk * s->blocks + block];
    int64_t shorter = 0;
    for (int64_t i = begin[0]; i < begin[1]; i++) {
        const struct csrconv_segment *segment = &s->segments[i];
        assert_in_range(segment->filter, s->chunk_begin[chunk], s->chunk_begin[chunk + 1] - 1);
        check_segment(sample, segment, block, walk);
        if (!sample->cut.is_as_they_come)
            assert_true(segment[1].begin - segment[0].begin >= shorter);
        else if (i > begin[0])
            assert_true(segment[0].filter > segment[-1].filter);
        shorter = segment[1].begin - segment[0].begin;
    }
}

static void check_nonzeros(const struct sample *sample)
{
    const struct csrconv_segments *s = &sample->segments;
    const csrconv_weights *w = sample->weights;
    struct walk walk = { test_calloc((size_t)w->filters, sizeof *walk.next), 0 };
    for (int64_t m = 0; m < w->filters; m++)
        walk.next[m] = w->indptr[m];
    assert_int_equal(s->block_begin[0], 0);
    for (int64_t chunk = 0; chunk < s->chunks; chunk++)
        for (int64_t block = 0; block < s->blocks; block++)
            check_block(sample, chunk, block, &walk);
    for (int64_t m = 0; m < w->filters; m++)
        assert_int_equal(walk.next[m], w->indptr[m + 1]);
    assert_int_equal(walk.nonzeros, csrconv_nonzeros(w));
    test_free(walk.next);
}

static void every_nonzero_stands_once_in_order(void **state)
{
    (void)state;
    each_sample(check_nonzeros);
}

/* Every filter has one segment that begins its sums, if only an empty one. */
static void check_ends(const struct sample *sample)
{
    const struct csrconv_segments *s = &sample->segments;
    const int64_t filters = sample->geometry.filters;
    int64_t *first = test_calloc((size_t)filters, sizeof *first);
    for (int64_t i = 0; i < s->block_begin[s->chunks * s->blocks]; i++)
        first[s->segments[i].filter] += s->segments[i].is_first;
    for (int64_t m = 0; m < filters; m++)
        assert_int_equal(first[m], 1);
    test_free(first);
}

static void every_filter_begins_once(void **state)
{
    (void)state;
    each_sample(check_ends);
}

static void check_count(const struct sample *sample)
{
    const struct csrconv_segments *s = &sample->segments;
    const int64_t counted =
        csrconv_count_segments(sample->weights, &sample->shape, sample->cut.block_channels, 1);
    int64_t filled = 0;
    for (int64_t i = 0; i < s->block_begin[s->chunks * s->blocks]; i++)
        filled += s->segments[i].begin < s->segments[i + 1].begin;
    assert_int_equal(counted, filled);
}

static void segments_are_counted_as_they_are_made(void **state)
{
    (void)state;
    each_sample(check_count);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chunks_cover_the_filters),
        cmocka_unit_test(every_nonzero_stands_once_in_order),
        cmocka_unit_test(every_filter_begins_once),
        cmocka_unit_test(segments_are_counted_as_they_are_made),
    };
    return cmocka_run_group_tests_name("segments", tests, NULL, NULL);
}
