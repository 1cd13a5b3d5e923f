#include "status.h"

#include <stdarg.h>
#include <stdio.h>

static _Thread_local char sentence[512];

#define TEXT(x) #x
#define TEXT_OF(x) TEXT(x)

int csrconv_version(void)
{
    return CSRCONV_VERSION;
}

const char *csrconv_version_string(void)
{
    return TEXT_OF(CSRCONV_VERSION_MAJOR) "." TEXT_OF(CSRCONV_VERSION_MINOR) "." TEXT_OF(
        CSRCONV_VERSION_PATCH);
}

const char *csrconv_status_string(csrconv_status status)
{
    switch (status) {
    case CSRCONV_OK:
        return "CSRCONV_OK";
    case CSRCONV_VERSION_MISMATCH:
        return "CSRCONV_VERSION_MISMATCH";
    case CSRCONV_NO_DEVICE:
        return "CSRCONV_NO_DEVICE";
    case CSRCONV_BAD_ARGUMENT:
        return "CSRCONV_BAD_ARGUMENT";
    case CSRCONV_BAD_GEOMETRY:
        return "CSRCONV_BAD_GEOMETRY";
    case CSRCONV_BAD_CSR:
        return "CSRCONV_BAD_CSR";
    case CSRCONV_BAD_BUFFER:
        return "CSRCONV_BAD_BUFFER";
    case CSRCONV_UNKNOWN_ALGORITHM:
        return "CSRCONV_UNKNOWN_ALGORITHM";
    case CSRCONV_BAD_BLOB:
        return "CSRCONV_BAD_BLOB";
    case CSRCONV_NOT_SUPPORTED:
        return "CSRCONV_NOT_SUPPORTED";
    case CSRCONV_NOT_BUILT:
        return "CSRCONV_NOT_BUILT";
    case CSRCONV_OUT_OF_MEMORY:
        return "CSRCONV_OUT_OF_MEMORY";
    case CSRCONV_INTERNAL:
        return "CSRCONV_INTERNAL";
    case CSRCONV_EXECUTION_FAILED:
        return "CSRCONV_EXECUTION_FAILED";
    }
    return "unknown status";
}

const char *csrconv_last_error(void)
{
    return sentence;
}

csrconv_status csrconv_fail(csrconv_status status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    return status;
}

csrconv_status csrconv_check_struct(const char *what, size_t size, size_t known)
{
    if (size == known)
        return CSRCONV_OK;
    return csrconv_fail(CSRCONV_VERSION_MISMATCH,
                        "%s.struct_size is %zu, this library (%s) knows %zu: set it up with its "
                        "_init function or sizeof, and build with the header of this library",
                        what, size, csrconv_version_string(), known);
}
