/*
 * How the tools fail: the function that finds the fault words it once, its callers pass the exit
 * code up, and main prints the one line. So no failure is silent and none prints twice.
 */
#ifndef CSRCONV_TOOLS_COMPLAIN_H
#define CSRCONV_TOOLS_COMPLAIN_H

enum exit_code {
    EXIT_DONE = 0,
    EXIT_WRONG = 1,  /* a result was wrong, or the computation failed */
    EXIT_BAD = 2,    /* the command line or an input file is bad */
    EXIT_REFUSED = 3 /* valid, but it cannot run here */
};

/*
 * Keeps "WHERE: what was wrong" for main and returns code. where names a file, a flag or an
 * argument. Control characters that came from outside are shown as '?', so it stays one line.
 */
int complain(int code, const char *where, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The kept text, "" if nothing failed since complain_clear. */
const char *complaint(void);
void complain_clear(void);

#endif
