#include "choices.h"

#include "complain.h"
#include "problem/text_file.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* choice and layer are one block, which choice begins. */
struct saved_choice {
    char *choice, *layer;
};

int choices_add(struct choice_list *list, const char *layer, const char *choice)
{
    const size_t length = strlen(choice) + 1;
    struct saved_choice *const grown =
        realloc(list->items, (list->count + 1) * sizeof *list->items);
    char *const text = grown ? malloc(length + strlen(layer) + 1) : NULL;
    if (grown)
        list->items = grown;
    if (!text)
        return complain(EXIT_WRONG, "memory", "no room for the choice of %s", layer);
    memcpy(text, choice, length);
    memcpy(text + length, layer, strlen(layer) + 1);
    list->items[list->count++] = (struct saved_choice){ text, text + length };
    return EXIT_DONE;
}

/* Takes the line apart in place. */
static int read_line(const char *path, size_t number, char *line, struct choice_list *list)
{
    char *const tab = strchr(line, '\t');
    line[strcspn(line, "\r")] = '\0';
    if (!*line || *line == '#')
        return EXIT_DONE;
    if (!tab || tab == line || !tab[1])
        return complain(EXIT_BAD, path, "line %zu is no choice, a tab and the name of a layer",
                        number);
    *tab = '\0';
    return choices_add(list, tab + 1, line);
}

int choices_read(const char *path, struct choice_list *list)
{
    char *text, *line;
    size_t size, number = 0;
    int code = text_file_read(path, &text, &size);
    if (code)
        return code;
    if (strlen(text) != size)
        code = complain(EXIT_BAD, path, "is no text: it has a NUL");
    for (line = text; !code && *line;) {
        char *const end = line + strcspn(line, "\n");
        const bool is_last = !*end;
        *end = '\0';
        code = read_line(path, ++number, line, list);
        line = is_last ? end : end + 1;
    }
    free(text);
    return code;
}

void choices_write(const struct choice_list *list, FILE *stream)
{
    fputs("# csrconv bench --save-choices: the choice, a tab, the layer\n", stream);
    for (size_t i = 0; i < list->count; i++)
        fprintf(stream, "%s\t%s\n", list->items[i].choice, list->items[i].layer);
}

const char *choices_find(const struct choice_list *list, const char *layer, size_t *next)
{
    while (*next < list->count) {
        const struct saved_choice *const item = &list->items[(*next)++];
        if (strcmp(item->layer, layer) == 0)
            return item->choice;
    }
    return NULL;
}

void choices_free(struct choice_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->items[i].choice);
    free(list->items);
    *list = (struct choice_list){ 0 };
}
