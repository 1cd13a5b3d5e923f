#include "patch.h"

#include <string.h>

enum { MOST_STEPS = 9 }; /* pitches that are tried, `vector` floats apart: banks repeat soon */

static const int64_t most_floats = 1 << 16; /* 256 KB */

static int64_t round_up(int64_t x, int64_t multiple)
{
    return (x + multiple - 1) / multiple * multiple;
}

/* Rows of the input that follow one another without a cut can be copied in wide pieces. */
static int64_t widest_copy(const struct csrconv_shape *shape, int64_t columns)
{
    const csrconv_geometry *g = &shape->g;
    const int64_t sizes = g->width | g->in_batch_stride;
    if (columns < shape->out_w)
        return 1;
    return sizes % 4 == 0 ? 4 : sizes % 2 == 0 ? 2 : 1;
}

/* How many outputs of the tile find their bank full after `passes` of them. */
static int64_t overflow(const struct csrconv_patch *p, int64_t images, int64_t passes)
{
    int64_t met[CSRCONV_BANKS] = { 0 }, over = 0;
    for (int64_t i = 0; i < images; i++)
        for (int64_t y = 0; y < p->rows; y++)
            for (int64_t x = 0; x < p->columns; x++)
                over += met[csrconv_patch_at(p, i, y, x) % CSRCONV_BANKS]++ >= passes;
    return over;
}

/* The first of the pitches tried that has the least overflow. */
static void choose_pitch(struct csrconv_patch *p, int64_t *pitch, int64_t images, int64_t passes)
{
    int64_t least = INT64_MAX, best = *pitch;
    for (int step = 0; step < MOST_STEPS && least > 0; step++, *pitch += p->vector) {
        const int64_t over = overflow(p, images, passes);
        if (over < least) {
            least = over;
            best = *pitch;
        }
    }
    *pitch = best;
}

bool csrconv_patch_make(const struct csrconv_shape *shape, int64_t images, int64_t rows,
                        int64_t columns, int64_t passes, struct csrconv_patch *patch)
{
    const csrconv_geometry *g = &shape->g;
    const int64_t alone = (rows * columns - 1) / CSRCONV_BANKS + 1;
    struct csrconv_patch p = {
        .images = images,
        .rows = rows,
        .columns = columns,
        .stride_h = g->stride_h,
        .stride_w = g->stride_w,
        .height = (rows - 1) * g->stride_h + (g->kernel_h - 1) * g->dilation_h + 1,
        .width = (columns - 1) * g->stride_w + (g->kernel_w - 1) * g->dilation_w + 1,
        .vector = widest_copy(shape, columns),
    };
    if (p.height > most_floats || p.width > most_floats || p.height * p.width > most_floats ||
        images > most_floats)
        return false;
    p.lead = round_up(g->pad_left, p.vector) - g->pad_left;
    /* The last copy of a row may bring some floats beyond the patch. */
    p.pitch = round_up(p.lead + p.width, p.vector);
    choose_pitch(&p, &p.pitch, 1, images == 1 ? passes : alone);
    p.image_pitch = p.height * p.pitch;
    if (images > 1)
        choose_pitch(&p, &p.image_pitch, images, passes);
    p.channel_pitch = images * p.image_pitch;
    *patch = p;
    return p.channel_pitch <= most_floats;
}

static struct csrconv_slot slot_of(const struct csrconv_patch *p, int64_t image, int64_t row,
                                   int64_t column)
{
    return (struct csrconv_slot){
        .offset = (int32_t)(csrconv_patch_at(p, image, row, column) * (int64_t)sizeof(float)),
        .place = (int32_t)(image << 20 | row << 10 | column),
    };
}

static int64_t bank_of(const struct csrconv_slot *slot)
{
    return slot->offset / (int64_t)sizeof(float) % CSRCONV_BANKS;
}

/* Wavefronts of one pass: as many as the bank that most of its lanes meet. */
static int64_t wavefronts(const struct csrconv_slot *pass)
{
    int64_t met[CSRCONV_BANKS] = { 0 }, most = 1;
    for (int lane = 0; lane < CSRCONV_BANKS; lane++) {
        const int64_t count = ++met[bank_of(&pass[lane])];
        if (count > most)
            most = count;
    }
    return most;
}

static void clear(int64_t passes, struct csrconv_slot *slots)
{
    for (int64_t i = 0; i < passes * CSRCONV_BANKS; i++)
        slots[i] = (struct csrconv_slot){ 0, -1 };
}

/*
 * Unused lanes read, too: the word that the lane read the pass before, which is of its own bank, or
 * that of the pass's first used lane.
 */
static void settle_unused(const struct csrconv_patch *p, int64_t passes, struct csrconv_slot *slots)
{
    for (int64_t i = 0; i < passes * CSRCONV_BANKS; i++) {
        int32_t offset = slot_of(p, 0, 0, 0).offset;
        if (slots[i].place >= 0)
            continue;
        for (int64_t k = (i / CSRCONV_BANKS + 1) * CSRCONV_BANKS;
             k-- > i / CSRCONV_BANKS * CSRCONV_BANKS;)
            if (slots[k].place >= 0)
                offset = slots[k].offset;
        slots[i].offset = i < CSRCONV_BANKS ? offset : slots[i - CSRCONV_BANKS].offset;
    }
}

/* Into the bank's own lane while that has passes left, else into any that has. */
static void place(const struct csrconv_slot *slot, int64_t passes, int64_t *used,
                  struct csrconv_slot *slots)
{
    int64_t lane = bank_of(slot);
    for (int64_t i = 0; used[lane] >= passes && i < CSRCONV_BANKS; i++)
        lane = i;
    slots[used[lane]++ * CSRCONV_BANKS + lane] = *slot;
}

/* First those that find their own lane free; `is_first` says which this round places. */
static void place_round(const struct csrconv_patch *p, int64_t passes, bool is_first, int64_t *met,
                        int64_t *used, struct csrconv_slot *slots)
{
    for (int64_t i = 0; i < p->images; i++)
        for (int64_t y = 0; y < p->rows; y++)
            for (int64_t x = 0; x < p->columns; x++) {
                const struct csrconv_slot slot = slot_of(p, i, y, x);
                const bool fits = met[bank_of(&slot)]++ < passes;
                if (fits == is_first)
                    place(&slot, passes, used, slots);
            }
}

int64_t csrconv_patch_slots(const struct csrconv_patch *patch, int64_t passes,
                            struct csrconv_slot *slots)
{
    int64_t met[CSRCONV_BANKS] = { 0 }, used[CSRCONV_BANKS] = { 0 }, total = 0;
    clear(passes, slots);
    place_round(patch, passes, true, met, used, slots);
    memset(met, 0, sizeof met);
    place_round(patch, passes, false, met, used, slots);
    settle_unused(patch, passes, slots);
    for (int64_t pass = 0; pass < passes; pass++)
        total += wavefronts(slots + pass * CSRCONV_BANKS);
    return total;
}
