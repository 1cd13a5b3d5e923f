#include "number.h"

#include "complain.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static size_t digits(const char *text)
{
    return strspn(text, "0123456789");
}

/* -?[0-9]+ : strtoll alone would take spaces, '+' and trailing junk. */
static int is_whole(const char *text)
{
    text += *text == '-';
    return digits(text) > 0 && text[digits(text)] == '\0';
}

/* -?[0-9]*[.]?[0-9]*([eE][-+]?[0-9]+)? with a digit before the exponent: no hex, NaN or infinity.
 */
static int is_real(const char *text)
{
    text += *text == '-';
    const size_t before = digits(text);
    text += before;
    const size_t after = *text == '.' ? digits(text + 1) : 0;
    text += *text == '.' ? 1 + after : 0;
    if (before + after == 0)
        return 0;
    if (*text != 'e' && *text != 'E')
        return *text == '\0';
    text++;
    text += *text == '-' || *text == '+';
    return digits(text) > 0 && text[digits(text)] == '\0';
}

int number_whole(const char *where, const char *text, int64_t least, int64_t most, int64_t *out)
{
    if (!is_whole(text))
        return complain(EXIT_BAD, where, "\"%.80s\" is not a whole number", text);
    errno = 0;
    const long long number = strtoll(text, NULL, 10);
    if (errno == ERANGE || number < least || number > most)
        return complain(EXIT_BAD, where, "%.80s is not in %" PRId64 " to %" PRId64, text, least,
                        most);
    *out = number;
    return EXIT_DONE;
}

int number_real(const char *where, const char *text, double least, double below, double *out)
{
    if (!is_real(text))
        return complain(EXIT_BAD, where, "\"%.80s\" is not a number", text);
    const double number = strtod(text, NULL);
    if (!isfinite(number) || number < least || number >= below)
        return complain(EXIT_BAD, where, "%.80s is not at least %g and below %g", text, least,
                        below);
    *out = number;
    return EXIT_DONE;
}

/* ---------------------------------------------------------------------------------------- lists */

/* The items with room for one more, or NULL; a list doubles when its count is a power of two. */
static void *with_room(const char *where, void *items, size_t count, size_t item_bytes)
{
    if (count & (count - 1))
        return items;
    const size_t room = count ? 2 * count : 1;
    void *const grown = room <= SIZE_MAX / item_bytes ? realloc(items, room * item_bytes) : NULL;
    if (!grown)
        complain(EXIT_WRONG, where, "no memory for %zu items", room);
    return grown;
}

/* Cuts the next item off a list; *rest becomes NULL behind the last one. */
static char *next_item(char **rest)
{
    char *const item = *rest;
    char *const comma = strchr(item, ',');
    if (comma)
        *comma = '\0';
    *rest = comma ? comma + 1 : NULL;
    return item;
}

typedef int take_item(const char *where, const char *item, void *context);

static int for_each_item(const char *where, const char *text, take_item *take, void *context)
{
    char *const copy = strdup(text);
    if (!copy)
        return complain(EXIT_WRONG, where, "no memory for its value");
    int code = EXIT_DONE;
    for (char *rest = copy; rest && code == EXIT_DONE;) {
        const char *const item = next_item(&rest);
        if (*item)
            code = take(where, item, context);
        else
            code = complain(EXIT_BAD, where, "\"%.80s\" has an empty item", text);
    }
    free(copy);
    return code;
}

struct whole_range {
    int64_t least, most;
    struct whole_list *list;
};

static int take_whole(const char *where, const char *item, void *context)
{
    const struct whole_range *const range = context;
    struct whole_list *const list = range->list;
    int64_t number = 0;
    const int code = number_whole(where, item, range->least, range->most, &number);
    if (code != EXIT_DONE)
        return code;
    int64_t *const items = with_room(where, list->items, list->count, sizeof number);
    if (!items)
        return EXIT_WRONG;
    list->items = items;
    list->items[list->count++] = number;
    return EXIT_DONE;
}

int number_wholes(const char *where, const char *text, int64_t least, int64_t most,
                  struct whole_list *list)
{
    struct whole_range range = { least, most, list };
    return for_each_item(where, text, take_whole, &range);
}

struct real_range {
    double least, below;
    struct real_list *list;
};

static int take_real(const char *where, const char *item, void *context)
{
    const struct real_range *const range = context;
    struct real_list *const list = range->list;
    double number = 0.0;
    const int code = number_real(where, item, range->least, range->below, &number);
    if (code != EXIT_DONE)
        return code;
    double *const items = with_room(where, list->items, list->count, sizeof number);
    if (!items)
        return EXIT_WRONG;
    list->items = items;
    list->items[list->count++] = number;
    return EXIT_DONE;
}

int number_reals(const char *where, const char *text, double least, double below,
                 struct real_list *list)
{
    struct real_range range = { least, below, list };
    return for_each_item(where, text, take_real, &range);
}

int text_list_append(const char *where, const char *text, struct text_list *list)
{
    char **const items = with_room(where, list->items, list->count, sizeof *items);
    if (!items)
        return EXIT_WRONG;
    list->items = items;
    char *const copy = strdup(text);
    if (!copy)
        return complain(EXIT_WRONG, where, "no memory for its value");
    list->items[list->count++] = copy;
    return EXIT_DONE;
}

static int take_text(const char *where, const char *item, void *context)
{
    return text_list_append(where, item, context);
}

int number_texts(const char *where, const char *text, struct text_list *list)
{
    return for_each_item(where, text, take_text, list);
}

void text_list_free(struct text_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->items[i]);
    free(list->items);
    *list = (struct text_list){ NULL, 0 };
}

void whole_list_free(struct whole_list *list)
{
    free(list->items);
    *list = (struct whole_list){ NULL, 0 };
}

void real_list_free(struct real_list *list)
{
    free(list->items);
    *list = (struct real_list){ NULL, 0 };
}

/* ------------------------------------------------------------------------------ pairs and quads */

int number_pair(const char *where, const char *text, int64_t least, int64_t most, int64_t out[2])
{
    struct whole_list list = { NULL, 0 };
    int code = number_wholes(where, text, least, most, &list);
    if (code == EXIT_DONE && list.count > 2)
        code = complain(EXIT_BAD, where, "\"%.80s\" is not one or two numbers", text);
    if (code == EXIT_DONE) {
        out[0] = list.items[0];
        out[1] = list.items[list.count - 1];
    }
    whole_list_free(&list);
    return code;
}

int number_padding(const char *where, const char *text, int64_t least, int64_t most, int64_t out[4])
{
    struct whole_list list = { NULL, 0 };
    int code = number_wholes(where, text, least, most, &list);
    if (code == EXIT_DONE && list.count != 1 && list.count != 2 && list.count != 4)
        code = complain(EXIT_BAD, where, "\"%.80s\" is not P, PH,PW or T,L,B,R", text);
    if (code == EXIT_DONE)
        for (size_t side = 0; side < 4; side++)
            out[side] = list.items[side % list.count];
    whole_list_free(&list);
    return code;
}
