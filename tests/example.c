#include <csrconv.h>
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
    const float weights[2][3][3] = { { { 0, 0, 0 }, { -1, 0, 1 }, { 0, 0, 0 } },
                                     { { 0, 2, 0 }, { 0, 0, 0 }, { 0, 3, 0 } } };
    static float in[8][8] = { [4][5] = 1.0F }, out[2][8][8];
    csrconv_weights *sparse = NULL;
    csrconv_plan *plan = NULL;
    csrconv_plan_info info = { .struct_size = sizeof info };
    csrconv_geometry layer;
    csrconv_geometry_init(&layer); /* one image, stride 1, no padding, no groups */
    layer.channels = 1, layer.height = 8, layer.width = 8;
    layer.filters = 2, layer.kernel_h = 3, layer.kernel_w = 3;
    layer.pad_top = layer.pad_left = layer.pad_bottom = layer.pad_right = 1;
    csrconv_plan_options options;
    csrconv_plan_options_init(&options);
    options.device = CSRCONV_DEVICE_CPU;
    if (csrconv_weights_from_dense(&weights[0][0][0], 2, 1, 3, 3, NULL, &sparse) ||
        csrconv_plan_create(sparse, &layer, &options, &plan) || csrconv_plan_describe(plan, &info))
        return fprintf(stderr, "%s\n", csrconv_last_error()), 1;
    void *workspace = aligned_alloc(64, (info.workspace_bytes + 63) / 64 * 64);
    if (csrconv_execute(plan, 1, &in[0][0], &out[0][0][0], workspace, info.workspace_bytes, NULL))
        return fprintf(stderr, "%s\n", csrconv_last_error()), 1;
    printf("%g %g\n", out[0][4][4], out[1][5][5]); /* 1 and 2: the weights that meet the one */
    free(workspace);
    csrconv_plan_destroy(&plan);
    csrconv_weights_destroy(&sparse);
}
