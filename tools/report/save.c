#include "report_format.h"

#include "../complain.h"
#include "../output.h"

int report_save(const struct report *report, const struct report_format *format, const char *path)
{
    struct output *output;
    int code = output_open(path, &output);
    if (code != EXIT_DONE)
        return code;
    code = format->write(report, output_stream(output));
    if (code == EXIT_DONE)
        return output_commit(&output);
    output_abandon(&output);
    return code;
}
