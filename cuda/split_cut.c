#include "split_cut.h"

#include "csr.h"
#include "integers.h"

#include <math.h>

enum { BOUND_STEPS = 40 };

static const double channel_share = 0.15; /* what a channel takes beside its nonzeros, of these */
static const double most_spread = 1.25;   /* channels of a chunk over the mean */

/* Once over the weights. A row's columns ascend. */
void csrconv_slices_init(const struct csrconv_problem *problem, struct csrconv_slices *slices)
{
    const struct csrconv_shape *shape = &problem->shape;
    const struct csrconv_weights *w = problem->weights;
    const int64_t channels = shape->group_channels;
    const int64_t size = csrconv_ceil_divide(channels, CSRCONV_MOST_SLICES);
    const int64_t columns = size * shape->g.kernel_h * shape->g.kernel_w;
    *slices = (struct csrconv_slices){ .channels = channels,
                                       .slice_channels = size,
                                       .count = csrconv_ceil_divide(channels, size) };
    for (int64_t m = 0; m < w->filters; m++) {
        int64_t at = w->indptr[m];
        for (int64_t i = 0; i < slices->count; i++) {
            const int64_t from = at;
            while (at < w->indptr[m + 1] && w->indices[at] < (i + 1) * columns)
                at++;
            slices->nonzeros[i] += at - from;
        }
    }
}

static double all_nonzeros(const struct csrconv_slices *slices)
{
    double sum = 0.0;
    for (int64_t i = 0; i < slices->count; i++)
        sum += (double)slices->nonzeros[i];
    return sum;
}

/* What there is to be cut, and how long a chunk may be at the most. */
struct cutting {
    const struct csrconv_slices *slices;
    double channel_work;
    int64_t chunks, most_slices;
};

static int64_t end_channel(const struct csrconv_slices *slices, int64_t slice)
{
    return csrconv_smaller(slices->channels, (slice + 1) * slices->slice_channels);
}

/* Of a slice, in nonzeros. */
static double work_of(const struct cutting *c, int64_t slice)
{
    const int64_t channels = end_channel(c->slices, slice) - slice * c->slices->slice_channels;
    return (double)c->slices->nonzeros[slice] + c->channel_work * (double)channels;
}

/* Where a chunk ends that begins with a slice, and has as many as the bound allows. */
static int64_t take(const struct cutting *c, int64_t slice, double bound)
{
    const int64_t end = csrconv_smaller(c->slices->count, slice + c->most_slices);
    double work = 0.0;
    while (slice < end && work + work_of(c, slice) <= bound)
        work += work_of(c, slice++);
    return slice;
}

static bool fits(const struct cutting *c, double bound)
{
    int64_t slice = 0;
    for (int64_t i = 0; i < c->chunks; i++)
        slice = take(c, slice, bound);
    return slice == c->slices->count;
}

/* About the least that no chunk has to exceed. */
static double find_bound(const struct cutting *c)
{
    double low = 0.0, high = 1.0;
    for (int64_t i = 0; i < c->slices->count; i++)
        high += work_of(c, i);
    for (int i = 0; i < BOUND_STEPS; i++) {
        const double middle = (low + high) / 2.0;
        if (fits(c, middle))
            high = middle;
        else
            low = middle;
    }
    return high;
}

/* The chunk's end, such that one slice is left for each that follows. */
static int64_t end_chunk(const struct cutting *c, int64_t chunk, int64_t slice, double bound)
{
    const int64_t last = c->slices->count - (c->chunks - 1 - chunk);
    return csrconv_smaller(last, take(c, slice, bound));
}

/* Begins the next chunk, which ends with the slice before `end`. */
static void add_chunk(const struct csrconv_slices *slices, int64_t chunk, int64_t begin,
                      int64_t end, struct csrconv_split_cut *cut)
{
    double nonzeros = 0.0;
    for (int64_t i = begin; i < end; i++)
        nonzeros += (double)slices->nonzeros[i];
    cut->first[chunk + 1] = end_channel(slices, end - 1);
    cut->most_channels =
        csrconv_larger(cut->most_channels, cut->first[chunk + 1] - cut->first[chunk]);
    cut->heaviest = fmax(cut->heaviest, nonzeros);
}

static void finish(const struct csrconv_slices *slices, int64_t chunks,
                   struct csrconv_split_cut *cut)
{
    cut->heaviest *= (double)chunks / fmax(1.0, all_nonzeros(slices));
}

bool csrconv_split_cut(const struct csrconv_slices *slices, int64_t chunks,
                       struct csrconv_split_cut *cut)
{
    const double nonzeros = fmax(1.0, all_nonzeros(slices));
    const double mean = (double)slices->count / (double)chunks;
    const struct cutting c = { slices, channel_share * nonzeros / (double)slices->channels, chunks,
                               csrconv_larger((int64_t)ceil(mean), (int64_t)(most_spread * mean)) };
    double bound;
    int64_t slice = 0;
    if (slices->count < chunks)
        return false;
    bound = find_bound(&c);
    *cut = (struct csrconv_split_cut){ .first = { 0 } };
    for (int64_t i = 0; i < chunks; i++) {
        const int64_t end = end_chunk(&c, i, slice, bound);
        add_chunk(slices, i, slice, end, cut);
        slice = end;
    }
    finish(slices, chunks, cut);
    return true;
}

bool csrconv_split_cut_evenly(const struct csrconv_slices *slices, int64_t chunks,
                              struct csrconv_split_cut *cut)
{
    if (slices->count < chunks)
        return false;
    *cut = (struct csrconv_split_cut){ .first = { 0 } };
    for (int64_t i = 0; i < chunks; i++)
        add_chunk(slices, i, i * slices->count / chunks, (i + 1) * slices->count / chunks, cut);
    finish(slices, chunks, cut);
    return true;
}
