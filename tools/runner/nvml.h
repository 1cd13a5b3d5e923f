/*
 * The few things that only NVIDIA's management library tells. It comes with the driver and is
 * opened at run time: where it is missing, nothing is known.
 */
#ifndef CSRCONV_TOOLS_NVML_H
#define CSRCONV_TOOLS_NVML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The driver's version; false, and text as it was, if it is not known. */
bool nvml_driver(char *text, size_t size);

/* The clock of the multiprocessors now, of the GPU at that place of the PCI bus; 0: not known. */
int64_t nvml_sm_clock_mhz(const char *pci_bus_id);

#endif
