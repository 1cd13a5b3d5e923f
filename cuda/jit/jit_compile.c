#include "jit_compile.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

/* As nvJitLink.h of CUDA 13 has them. */
typedef struct nvJitLink *jit_link;
enum { JIT_LINK_DONE = 0, JIT_LINK_INPUT_CUBIN = 1, JIT_LINK_INPUT_PTX = 2 };

#define JIT_LINK_LIBRARY "libnvJitLink.so.13"
#define JIT_LINK_SYMBOL(name) "__nvJitLink" name "_13_0"

static struct {
    csrconv_status status;
    char reason[256];
    int (*version)(unsigned *major, unsigned *minor);
    int (*create)(jit_link *link, uint32_t options, const char *const *option);
    int (*destroy)(jit_link *link);
    int (*add)(jit_link link, int kind, const void *data, size_t size, const char *name);
    int (*complete)(jit_link link);
    int (*code_size)(jit_link link, size_t *size);
    int (*code)(jit_link link, void *code);
    int (*error_size)(jit_link link, size_t *size);
    int (*error)(jit_link link, char *log);
    int (*info_size)(jit_link link, size_t *size);
    int (*info)(jit_link link, char *log);
} library;

static pthread_once_t once = PTHREAD_ONCE_INIT;

/* A function by its name, through its bytes: C has no cast between the two kinds of pointers. */
static bool find(void *handle, const char *name, void *function)
{
    void *const symbol = dlsym(handle, name);
    memcpy(function, &symbol, sizeof symbol);
    return symbol != NULL;
}

static bool find_all(void *handle)
{
    return find(handle, "nvJitLinkVersion", &library.version) &&
           find(handle, JIT_LINK_SYMBOL("Create"), &library.create) &&
           find(handle, JIT_LINK_SYMBOL("Destroy"), &library.destroy) &&
           find(handle, JIT_LINK_SYMBOL("AddData"), &library.add) &&
           find(handle, JIT_LINK_SYMBOL("Complete"), &library.complete) &&
           find(handle, JIT_LINK_SYMBOL("GetLinkedCubinSize"), &library.code_size) &&
           find(handle, JIT_LINK_SYMBOL("GetLinkedCubin"), &library.code) &&
           find(handle, JIT_LINK_SYMBOL("GetErrorLogSize"), &library.error_size) &&
           find(handle, JIT_LINK_SYMBOL("GetErrorLog"), &library.error) &&
           find(handle, JIT_LINK_SYMBOL("GetInfoLogSize"), &library.info_size) &&
           find(handle, JIT_LINK_SYMBOL("GetInfoLog"), &library.info);
}

/* The library stays open until the process ends. */
static void open_library(void)
{
    void *const handle = dlopen(JIT_LINK_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (handle && find_all(handle))
        return;
    library.status = CSRCONV_NOT_SUPPORTED;
    snprintf(library.reason, sizeof library.reason, "%s", dlerror());
}

csrconv_status csrconv_jit_compiler(void)
{
    pthread_once(&once, open_library);
    if (library.status)
        return csrconv_fail(library.status, "cuda_jit needs " JIT_LINK_LIBRARY ": %s",
                            library.reason);
    return CSRCONV_OK;
}

void csrconv_jit_compiler_version(unsigned *major, unsigned *minor)
{
    *major = *minor = 0;
    library.version(major, minor);
}

/* One of the logs, with a 0 at its end. */
static csrconv_status take_log(jit_link link, int (*size_of)(jit_link, size_t *),
                               int (*get)(jit_link, char *), struct csrconv_memory *memory,
                               char **log)
{
    size_t size = 0;
    csrconv_status status;
    if (size_of(link, &size))
        size = 0;
    status = csrconv_allocate(memory, (int64_t)size + 1, 1, (void **)log);
    if (status)
        return status;
    if (size && get(link, *log))
        size = 0;
    (*log)[size] = '\0';
    return CSRCONV_OK;
}

static csrconv_status fail_with_log(jit_link link, int result, struct csrconv_memory *memory)
{
    char *log = NULL;
    csrconv_status status = take_log(link, library.error_size, library.error, memory, &log);
    if (!status)
        status =
            csrconv_fail(CSRCONV_INTERNAL, "nvJitLink refuses the code, %d: %.200s", result, log);
    csrconv_release(memory, log);
    return status;
}

static csrconv_status take_code(jit_link link, struct csrconv_memory *memory,
                                struct csrconv_jit_code *code)
{
    int result = library.code_size(link, &code->size);
    csrconv_status status;
    if (result)
        return fail_with_log(link, result, memory);
    status = csrconv_allocate(memory, (int64_t)code->size, 1, &code->bytes);
    if (status)
        return status;
    result = library.code(link, code->bytes);
    return result ? fail_with_log(link, result, memory) : CSRCONV_OK;
}

/* What the link has been given, to code; and what there is to tell of it, if log is not NULL. */
static csrconv_status complete(jit_link link, struct csrconv_memory *memory,
                               struct csrconv_jit_code *code, char **log)
{
    const int result = library.complete(link);
    csrconv_status status;
    if (result)
        return fail_with_log(link, result, memory);
    status = take_code(link, memory, code);
    if (!status && log)
        status = take_log(link, library.info_size, library.info, memory, log);
    return status;
}

static csrconv_status begin_link(const char *const *options, uint32_t count, int capability,
                                 jit_link *link)
{
    const csrconv_status status = csrconv_jit_compiler();
    int result;
    if (status)
        return status;
    result = library.create(link, count, options);
    return result
               ? csrconv_fail(CSRCONV_INTERNAL, "nvJitLink knows no sm_%d, or not our options: %d",
                              capability, result)
               : CSRCONV_OK;
}

csrconv_status csrconv_jit_assemble(const struct csrconv_jit_text *ptx, int capability,
                                    int64_t registers, struct csrconv_memory *memory,
                                    struct csrconv_jit_code *code, char **log)
{
    /* Beyond -O1 ptxas takes up to ten times as long, for code that is no better. */
    char arch[32], most[32];
    const char *options[] = { arch, most, "-r", "-no-cache", "-Xptxas=-O1", "-verbose" };
    jit_link link;
    csrconv_status status;
    int result;
    *code = (struct csrconv_jit_code){ NULL, 0 };
    snprintf(arch, sizeof arch, "-arch=sm_%d", capability);
    snprintf(most, sizeof most, "-maxrregcount=%d", (int)registers);
    status = begin_link(options, log ? 6 : 5, capability, &link);
    if (status)
        return status;
    /* With the 0 that ends the text. */
    result = library.add(link, JIT_LINK_INPUT_PTX, ptx->characters, (size_t)ptx->length + 1,
                         "csrconv_jit");
    status = result ? fail_with_log(link, result, memory) : complete(link, memory, code, log);
    library.destroy(&link);
    return status;
}

csrconv_status csrconv_jit_link(const struct csrconv_jit_code *parts, int64_t count, int capability,
                                struct csrconv_memory *memory, struct csrconv_jit_code *code)
{
    char arch[32];
    const char *options[] = { arch, "-no-cache" };
    jit_link link;
    csrconv_status status;
    int result = JIT_LINK_DONE;
    *code = (struct csrconv_jit_code){ NULL, 0 };
    snprintf(arch, sizeof arch, "-arch=sm_%d", capability);
    status = begin_link(options, 2, capability, &link);
    if (status)
        return status;
    for (int64_t i = 0; i < count && !result; i++)
        result =
            library.add(link, JIT_LINK_INPUT_CUBIN, parts[i].bytes, parts[i].size, "csrconv_jit");
    status = result ? fail_with_log(link, result, memory) : complete(link, memory, code, NULL);
    library.destroy(&link);
    return status;
}
