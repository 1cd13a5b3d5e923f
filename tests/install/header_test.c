/* The header alone is C11 without a warning, and what it declares links. */
#include "csrconv.h"

int main(void)
{
    csrconv_geometry geometry;
    csrconv_csr csr;
    csrconv_plan_options options;
    int64_t out_height, out_width;
    csrconv_geometry_init(&geometry);
    csrconv_csr_init(&csr);
    csrconv_plan_options_init(&options);
    geometry.channels = geometry.filters = geometry.kernel_h = geometry.kernel_w = 1;
    geometry.height = 4;
    geometry.width = 5;
    if (csrconv_output_size(&geometry, &out_height, &out_width) != CSRCONV_OK)
        return 1;
    return !(out_height == 4 && out_width == 5 && csrconv_version() == CSRCONV_VERSION &&
             csr.struct_size == sizeof csr && options.struct_size == sizeof options);
}
