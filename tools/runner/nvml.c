#include "nvml.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

/* As nvml.h of the driver has them. */
typedef struct nvmlDevice_st *nvml_device;
enum { NVML_CLOCK_SM = 1 };

static struct {
    int (*init)(void);
    int (*driver_version)(char *version, unsigned length);
    int (*device_by_bus)(const char *bus, nvml_device *device);
    int (*clock)(nvml_device device, int type, unsigned *mhz);
} nvml;

/* A function by its name, through its bytes: C has no cast between the two kinds of pointers. */
static bool find(void *library, const char *name, void *function)
{
    void *const symbol = dlsym(library, name);
    memcpy(function, &symbol, sizeof symbol);
    return symbol != NULL;
}

/* The library stays open until the process ends. */
static bool open_library(void)
{
    void *const library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    return library && find(library, "nvmlInit_v2", &nvml.init) &&
           find(library, "nvmlSystemGetDriverVersion", &nvml.driver_version) &&
           find(library, "nvmlDeviceGetHandleByPciBusId_v2", &nvml.device_by_bus) &&
           find(library, "nvmlDeviceGetClockInfo", &nvml.clock) && nvml.init() == 0;
}

static bool is_open(void)
{
    static enum { UNTRIED, OPEN, MISSING } state;
    if (state == UNTRIED)
        state = open_library() ? OPEN : MISSING;
    return state == OPEN;
}

bool nvml_driver(char *text, size_t size)
{
    char version[80]; /* NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE */
    if (!is_open() || nvml.driver_version(version, sizeof version))
        return false;
    snprintf(text, size, "%.*s", (int)size - 1, version);
    return true;
}

int64_t nvml_sm_clock_mhz(const char *pci_bus_id)
{
    nvml_device device;
    unsigned mhz = 0;
    if (!is_open() || nvml.device_by_bus(pci_bus_id, &device) ||
        nvml.clock(device, NVML_CLOCK_SM, &mhz))
        return 0;
    return mhz;
}
