/* The folder of a command's outputs, which goes again if nothing came into it. */
#ifndef CSRCONV_TOOLS_MADE_FOLDER_H
#define CSRCONV_TOOLS_MADE_FOLDER_H

/*
 * Makes a folder, its parents too, if they are missing; once in the life of a process. Returns an
 * exit_code and complains.
 */
int made_folder_make(const char *path);

/* Removes what was made, as far as it is empty. The signals of output.h do so too. */
void made_folder_remove(void);

#endif
