// The header alone is C++17 without a warning, and what it declares links as C.
#include "csrconv.h"

#include <vector>

int main()
{
    csrconv_geometry geometry;
    csrconv_csr csr;
    csrconv_plan_options options;
    csrconv_weights *weights = nullptr;
    csrconv_plan *plan = nullptr;
    const std::vector<float> dense{ 2.0F };
    const float in = 3.0F;
    float out = 0.0F;
    csrconv_geometry_init(&geometry);
    csrconv_csr_init(&csr);
    csrconv_plan_options_init(&options);
    geometry.channels = geometry.filters = geometry.kernel_h = geometry.kernel_w = 1;
    geometry.height = geometry.width = 1;
    options.device = CSRCONV_DEVICE_CPU;
    options.algorithm = "direct";
    if (csrconv_weights_from_dense(dense.data(), 1, 1, 1, 1, nullptr, &weights) ||
        csrconv_plan_create(weights, &geometry, &options, &plan) ||
        csrconv_execute(plan, 1, &in, &out, nullptr, 0, nullptr))
        return 1;
    csrconv_plan_destroy(&plan);
    csrconv_weights_destroy(&weights);
    return out == 6.0F ? 0 : 1;
}
