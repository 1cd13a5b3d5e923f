/*
 * Automatic choices that are kept in a file: a line for each, the text of csrconv_plan_choice, a
 * tab, and the name of the layer. Lines that begin with '#' are comments.
 */
#ifndef CSRCONV_TOOLS_CHOICES_H
#define CSRCONV_TOOLS_CHOICES_H

#include <stddef.h>
#include <stdio.h>

/* {0} is an empty list. */
struct choice_list {
    struct saved_choice *items;
    size_t count;
};

/* Appends those of a file. Returns an exit_code, having complained. */
int choices_read(const char *path, struct choice_list *list);
void choices_write(const struct choice_list *list, FILE *stream);

/* Appends a copy of clean texts, without tabs. Returns an exit_code, having complained. */
int choices_add(struct choice_list *list, const char *layer, const char *choice);

/* The first one of the layer from place *next on, which moves behind it; NULL: there is none. */
const char *choices_find(const struct choice_list *list, const char *layer, size_t *next);

void choices_free(struct choice_list *list);

#endif
