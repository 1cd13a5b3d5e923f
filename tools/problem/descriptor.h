/*
 * Problems as benchdnn describes convolutions, such as
 *
 *     g2mb256ic96ih27oc256oh27kh5ph2n"alexnet:conv2"
 *
 * Keys with whole numbers, a '_' allowed after each; n ends the descriptor with a name.
 *
 *     g groups (1)   mb batch (2)   ic, oc channels and filters over all groups
 *     ih iw input    oh ow output   kh kw kernel    sh sw stride (1)
 *     ph pw padding at the top and left             dh dw dilation, 0 = none (0)
 *
 * With no w key the convolution is square; with no h key it is one-dimensional: height 1. As in
 * benchdnn, w keys that name an input and a kernel stand alone, so that a stride or dilation which
 * they omit is that of the defaults. Where they lack one of the two, which benchdnn rejects, all
 * that they lack (but the output) is that of h.
 *
 * Without an output it follows from the padding (0), the same on both sides; without padding it
 * follows from the output, front half rounded down. The padding at the bottom and right is what the
 * output needs; where it needs less than the input gives, that is left over if it is less than a
 * stride and refused as a crop (EXIT_REFUSED) if not. Keys of three-dimensional convolutions are
 * refused too, whatever their value.
 */
#ifndef CSRCONV_TOOLS_PROBLEM_DESCRIPTOR_H
#define CSRCONV_TOOLS_PROBLEM_DESCRIPTOR_H

#include "problem/problem.h"

/*
 * Parses one descriptor; where begins the complaint, and is most often the text itself. Without a
 * name the problem is named by its text (its canonical text if that is too long). Returns an
 * exit_code and complains.
 */
int descriptor_parse(const char *where, const char *text, struct problem *problem);

/*
 * Appends what a PROBLEM argument means: one descriptor, or @FILE with one a line, where blank
 * lines and what follows a '#' (at the start or after a blank) are skipped. What was appended
 * before a failure stays in the list.
 */
int descriptor_load(const char *argument, struct problem_list *list);

#endif
