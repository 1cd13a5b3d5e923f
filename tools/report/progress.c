#define _DEFAULT_SOURCE /* struct winsize */
#include "progress.h"

#include "text.h"

#include <inttypes.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum { BAR_WIDTH = 20 };

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* One column stays free: a terminal that wraps at the last one would scroll with every line. */
static size_t usable_width(int file)
{
    struct winsize size;
    size_t columns = 80;
    if (ioctl(file, TIOCGWINSZ, &size) == 0 && size.ws_col > 1)
        columns = size.ws_col;
    return columns - 1 < PROGRESS_WIDTH ? columns - 1 : PROGRESS_WIDTH;
}

struct progress progress_start(FILE *stream, int64_t total)
{
    struct progress progress = { NULL, 0, total, 0.0, 0 };
    if (total > 0 && isatty(fileno(stream))) {
        progress.stream = stream;
        progress.width = usable_width(fileno(stream));
        progress.started_s = now_s();
    }
    return progress;
}

static void format_seconds(char text[16], double seconds)
{
    const int64_t s = seconds < 359999.0 ? (int64_t)(seconds + 0.5) : 359999;
    if (s < 3600)
        snprintf(text, 16, "%d:%02d", (int)(s / 60), (int)(s % 60));
    else
        snprintf(text, 16, "%d:%02d:%02d", (int)(s / 3600), (int)(s / 60 % 60), (int)(s % 60));
}

void progress_line(char line[PROGRESS_BYTES], size_t width, int64_t done, int64_t total,
                   double elapsed_s, const char *name)
{
    static const char hashes[] = "####################";
    static const char dots[] = "....................";
    const double part = done < total ? (double)done / (double)total : 1.0;
    const int filled = (int)(part * BAR_WIDTH);
    char elapsed[16], left[16] = "-:--";
    format_seconds(elapsed, elapsed_s);
    if (done > 0)
        format_seconds(left, elapsed_s / (double)done * (double)(total - done));
    snprintf(line, PROGRESS_BYTES, "[%.*s%.*s] %" PRId64 "/%" PRId64 "  %s, %s left  %s", filled,
             hashes, BAR_WIDTH - filled, dots, done, total, elapsed, left, name);
    text_clean(line);
    line[text_cut(line, width)] = '\0';
}

void progress_show(struct progress *progress, int64_t done, const char *name)
{
    if (!progress->stream)
        return;
    char line[PROGRESS_BYTES];
    progress_clear(progress);
    progress_line(line, progress->width, done, progress->total, now_s() - progress->started_s,
                  name);
    fputs(line, progress->stream);
    fflush(progress->stream);
    progress->is_shown = 1;
}

/* By spaces and not by an escape sequence, which some terminals would show. */
void progress_clear(struct progress *progress)
{
    if (!progress->is_shown)
        return;
    fprintf(progress->stream, "\r%*s\r", (int)progress->width, "");
    fflush(progress->stream);
    progress->is_shown = 0;
}
