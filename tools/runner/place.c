#include "place.h"

static const struct place *const places[] = {
    &place_cpu,
#ifdef CSRCONV_HAVE_CUDA
    &place_cuda,
#endif
};

const struct place *place_of(csrconv_device device)
{
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (places[i]->device == device)
            return places[i];
    return NULL;
}
