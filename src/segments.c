#include "segments.h"

#include <stdbool.h>
#include <string.h>

/* The channel over all groups of nonzero i of filter m. */
static int64_t channel_of(const struct csrconv_weights *w, const struct csrconv_shape *shape,
                          int64_t m, int64_t i)
{
    return m / shape->group_filters * shape->group_channels +
           w->indices[i] / (shape->g.kernel_h * shape->g.kernel_w);
}

/* The end of the run of nonzeros from i on that lie in the same block of channels. */
static int64_t run_end(const struct csrconv_weights *w, const struct csrconv_shape *shape,
                       int64_t m, int64_t i, int64_t block_channels)
{
    const int64_t group_begin = m / shape->group_filters * shape->group_channels;
    const int64_t block = channel_of(w, shape, m, i) / block_channels;
    const int64_t channels = (block + 1) * block_channels - group_begin; /* of the group, so far */
    const int64_t end = channels * shape->g.kernel_h * shape->g.kernel_w;
    while (i < w->indptr[m + 1] && w->indices[i] < end)
        i++;
    return i;
}

int64_t csrconv_count_segments(const struct csrconv_weights *w, const struct csrconv_shape *shape,
                               int64_t block_channels, int64_t step)
{
    const int64_t counted = (w->filters + step - 1) / step;
    int64_t count = 0;
    for (int64_t m = 0; m < w->filters; m += step)
        for (int64_t i = w->indptr[m]; i < w->indptr[m + 1]; count++)
            i = run_end(w, shape, m, i, block_channels);
    return count * w->filters / counted;
}

/* Cuts the filters so that each chunk has about the same number of nonzeros, and one filter at
 * least. */
static void cut_chunks(const struct csrconv_weights *w, struct csrconv_segments *s)
{
    const int64_t all = csrconv_nonzeros(w) + w->filters;
    int64_t m = 0;
    s->chunk_filters = 0;
    for (int64_t chunk = 0; chunk < s->chunks; chunk++) {
        const int64_t most = w->filters - (s->chunks - 1 - chunk);
        s->chunk_begin[chunk] = m++;
        while (m < most && w->indptr[m] + m < all / s->chunks * (chunk + 1))
            m++;
        if (chunk == s->chunks - 1)
            m = w->filters;
        if (m - s->chunk_begin[chunk] > s->chunk_filters)
            s->chunk_filters = m - s->chunk_begin[chunk];
    }
    s->chunk_begin[s->chunks] = w->filters;
}

static csrconv_status allocate(const struct csrconv_weights *w, const struct csrconv_shape *shape,
                               struct csrconv_memory *memory, struct csrconv_segments *s)
{
    const int64_t segments =
        csrconv_count_segments(w, shape, s->block_channels, 1) + w->filters; /* empty ones too */
    csrconv_status status;
    if ((status = csrconv_allocate(memory, s->chunks + 1, sizeof *s->chunk_begin,
                                   (void **)&s->chunk_begin)) ||
        (status = csrconv_allocate(memory, s->chunks * s->blocks + 1, sizeof *s->block_begin,
                                   (void **)&s->block_begin)) ||
        (status =
             csrconv_allocate(memory, segments + 1, sizeof *s->segments, (void **)&s->segments)))
        return status;
    return csrconv_allocate(memory, csrconv_nonzeros(w), sizeof *s->nonzeros,
                            (void **)&s->nonzeros);
}

/* A filter that has a segment in the block that is being filled. */
struct candidate {
    int64_t m;
    int64_t nonzeros;
};

/* Where each filter of the chunk goes on: nonzeros below next[m] have been placed. */
struct filler {
    const struct csrconv_weights *w;
    const struct csrconv_shape *shape;
    const struct csrconv_tile_layout *layout;
    struct csrconv_segments *s;
    bool is_as_they_come;
    int64_t *next;
    struct candidate *candidates;
    int64_t segment, nonzero; /* filled so far */
};

static void place_nonzeros(struct filler *f, int64_t m, int64_t end)
{
    const csrconv_geometry *g = &f->shape->g;
    for (int64_t i = f->next[m]; i < end; i++) {
        const int64_t column = f->w->indices[i];
        const int64_t r = column / g->kernel_w % g->kernel_h, s = column % g->kernel_w;
        const int64_t offset =
            csrconv_tile_offset(f->layout, f->shape, channel_of(f->w, f->shape, m, i), r, s);
        f->s->nonzeros[f->nonzero++] = (struct csrconv_nonzero){ (int32_t)offset, f->w->values[i] };
    }
    f->next[m] = end;
}

/* Whether filter m has a segment in the block: one without any nonzeros has one in block 0. */
static bool has_segment(const struct filler *f, int64_t m, int64_t block, int64_t *end)
{
    const struct csrconv_weights *w = f->w;
    const int64_t at = f->next[m];
    *end = at;
    if (w->indptr[m] == w->indptr[m + 1])
        return block == 0;
    if (at == w->indptr[m + 1] || channel_of(w, f->shape, m, at) / f->s->block_channels != block)
        return false;
    *end = run_end(w, f->shape, m, at, f->s->block_channels);
    return true;
}

static bool is_before(const struct candidate *a, const struct candidate *b)
{
    return a->nonzeros != b->nonzeros ? a->nonzeros < b->nonzeros : a->m < b->m;
}

/* By nonzeros, then by filter. Shell's sort: that of the C library may take memory of its own. */
static void sort_candidates(struct candidate *candidates, int64_t count)
{
    int64_t gap = 1;
    while (gap < count / 3)
        gap = 3 * gap + 1;
    for (; gap > 0; gap /= 3) {
        for (int64_t i = gap; i < count; i++) {
            const struct candidate moved = candidates[i];
            int64_t at = i;
            for (; at >= gap && is_before(&moved, &candidates[at - gap]); at -= gap)
                candidates[at] = candidates[at - gap];
            candidates[at] = moved;
        }
    }
}

static void place_segment(struct filler *f, int64_t m, int64_t nonzeros)
{
    const struct csrconv_weights *w = f->w;
    const int64_t at = f->next[m];
    f->s->segments[f->segment++] = (struct csrconv_segment){ .begin = f->nonzero,
                                                             .filter = (int32_t)m,
                                                             .is_first = at == w->indptr[m] };
    place_nonzeros(f, m, at + nonzeros);
}

/* Segments of equal length follow each other, so that the loops over them end as predicted. */
static void fill_chunk(struct filler *f, int64_t chunk)
{
    struct csrconv_segments *s = f->s;
    for (int64_t block = 0; block < s->blocks; block++) {
        int64_t count = 0;
        s->block_begin[chunk * s->blocks + block] = f->segment;
        for (int64_t m = s->chunk_begin[chunk]; m < s->chunk_begin[chunk + 1]; m++) {
            int64_t end;
            if (has_segment(f, m, block, &end))
                f->candidates[count++] = (struct candidate){ m, end - f->next[m] };
        }
        if (!f->is_as_they_come)
            sort_candidates(f->candidates, count);
        for (int64_t i = 0; i < count; i++)
            place_segment(f, f->candidates[i].m, f->candidates[i].nonzeros);
    }
}

csrconv_status csrconv_segments_make(const struct csrconv_weights *weights,
                                     const struct csrconv_shape *shape,
                                     const struct csrconv_tile_layout *layout,
                                     const struct csrconv_cut *cut, struct csrconv_memory *memory,
                                     struct csrconv_segments *s)
{
    struct filler filler = { .w = weights,
                             .shape = shape,
                             .layout = layout,
                             .s = s,
                             .is_as_they_come = cut->is_as_they_come };
    size_t bytes_kept;
    csrconv_status status;
    memset(s, 0, sizeof *s);
    s->block_channels = cut->block_channels;
    s->blocks = (shape->g.channels + cut->block_channels - 1) / cut->block_channels;
    s->chunks = cut->chunks < weights->filters ? cut->chunks : weights->filters;
    status = allocate(weights, shape, memory, s);
    bytes_kept = memory->bytes;
    if (!status)
        status =
            csrconv_allocate(memory, weights->filters, sizeof *filler.next, (void **)&filler.next);
    if (status)
        return status;
    status = csrconv_allocate(memory, weights->filters, sizeof *filler.candidates,
                              (void **)&filler.candidates);
    if (status) {
        csrconv_release(memory, filler.next);
        return status;
    }
    memcpy(filler.next, weights->indptr, (size_t)weights->filters * sizeof *filler.next);
    cut_chunks(weights, s);
    for (int64_t chunk = 0; chunk < s->chunks; chunk++)
        fill_chunk(&filler, chunk);
    s->block_begin[s->chunks * s->blocks] = filler.segment;
    s->segments[filler.segment].begin = filler.nonzero;
    csrconv_release(memory, filler.candidates);
    csrconv_release(memory, filler.next);
    memory->bytes = bytes_kept;
    return CSRCONV_OK;
}

void csrconv_segments_free(const struct csrconv_memory *memory, struct csrconv_segments *s)
{
    csrconv_release(memory, s->nonzeros);
    csrconv_release(memory, s->segments);
    csrconv_release(memory, s->block_begin);
    csrconv_release(memory, s->chunk_begin);
    memset(s, 0, sizeof *s);
}
