/*
 * Numbers as arguments give them: the whole text is the number, decimal, in range, or the complaint
 * says what is wrong with it. `where` is the flag or the file that it stands in.
 */
#ifndef CSRCONV_TOOLS_NUMBER_H
#define CSRCONV_TOOLS_NUMBER_H

#include <stddef.h>
#include <stdint.h>

/* Lists grow as they are appended to; start them as {0} and free them in the end. */
struct text_list {
    char **items; /* copies */
    size_t count;
};
struct whole_list {
    int64_t *items;
    size_t count;
};
struct real_list {
    double *items;
    size_t count;
};

void text_list_free(struct text_list *list);
void whole_list_free(struct whole_list *list);
void real_list_free(struct real_list *list);

/* All return EXIT_DONE or complain with EXIT_BAD (EXIT_WRONG: no memory). */
int number_whole(const char *where, const char *text, int64_t least, int64_t most, int64_t *out);

/* least <= number < below; never NaN or infinite. */
int number_real(const char *where, const char *text, double least, double below, double *out);

/* "4" or "4,2": one number stands for both. */
int number_pair(const char *where, const char *text, int64_t least, int64_t most, int64_t out[2]);

/* "P", "PH,PW" or "T,L,B,R", to out = top, left, bottom, right. */
int number_padding(const char *where, const char *text, int64_t least, int64_t most,
                   int64_t out[4]);

/* Comma lists without empty items, appended to what the list holds. */
int number_texts(const char *where, const char *text, struct text_list *list);
int number_wholes(const char *where, const char *text, int64_t least, int64_t most,
                  struct whole_list *list);
int number_reals(const char *where, const char *text, double least, double below,
                 struct real_list *list);

/* Appends a copy of the text, commas and all. */
int text_list_append(const char *where, const char *text, struct text_list *list);

#endif
