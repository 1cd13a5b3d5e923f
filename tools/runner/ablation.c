#include "ablation.h"

const csrconv_algorithm *const *ablation_table(csrconv_device device)
{
    return device == CSRCONV_DEVICE_CUDA ? ablation_cuda_table : ablation_cpu_table;
}
