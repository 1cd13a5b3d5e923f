#include "nearest.h"

#include <string.h>

/* Longer words get no suggestion, so that one row of the table has a fixed size. */
enum { LONGEST = 63 };

static size_t least_of(size_t a, size_t b, size_t c)
{
    const size_t ab = a < b ? a : b;
    return ab < c ? ab : c;
}

/* Levenshtein's distance, row by row; both words are at most LONGEST long. */
static size_t edit_distance(const char *from, const char *to)
{
    size_t row[LONGEST + 1];
    const size_t to_length = strlen(to);
    for (size_t j = 0; j <= to_length; j++)
        row[j] = j;
    for (size_t i = 0; from[i]; i++) {
        size_t diagonal = row[0];
        row[0] = i + 1;
        for (size_t j = 0; j < to_length; j++) {
            const size_t replaced = diagonal + (from[i] != to[j]);
            diagonal = row[j + 1];
            row[j + 1] = least_of(row[j] + 1, diagonal + 1, replaced);
        }
    }
    return row[to_length];
}

struct nearest nearest_to(const char *word)
{
    const struct nearest nearest = { word, NULL, 0 };
    return nearest;
}

void nearest_consider(struct nearest *nearest, const char *candidate)
{
    const size_t length = strlen(nearest->word);
    if (length > LONGEST || strlen(candidate) > LONGEST)
        return;
    /* A third of the letters may be wrong: more than that was another word. */
    const size_t limit = nearest->best ? nearest->distance : length / 3 + 1;
    const size_t distance = edit_distance(nearest->word, candidate);
    if (distance < limit || (!nearest->best && distance == limit)) {
        nearest->best = candidate;
        nearest->distance = distance;
    }
}
