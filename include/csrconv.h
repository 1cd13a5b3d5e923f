/*
 * csrconv: convolutions of pruned CNNs (sparse weights, dense activations), straight from CSR.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The whole public API. In short:
 *
 *     dense or CSR weights -> csrconv_weights -> csrconv_plan (one per shape) -> csrconv_execute
 *
 * Guarantees that hold for every function here:
 *   - Nothing is printed, no file and no environment variable is read, the process is never
 * aborted.
 *   - Every function that can fail returns a csrconv_status, and leaves a sentence with the values
 *     that were wrong for csrconv_last_error() of the same thread.
 *   - A failing create function sets *out to NULL. A destroy function accepts NULL and a pointer to
 *     NULL, and sets the pointer that it is given to NULL.
 *   - Objects hold copies: whatever is passed to a create function may be freed after the call,
 *     except where a comment says otherwise.
 *   - A csrconv_weights and a csrconv_plan are immutable once made, so any number of threads may
 * use the same one at the same time.
 *
 * Structures that may grow carry their size: set them up with their _init function, then change the
 * members that matter.
 */
#ifndef CSRCONV_H
#define CSRCONV_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(_WIN32)
#define CSRCONV_API
#elif defined(__GNUC__)
#define CSRCONV_API __attribute__((visibility("default")))
#else
#define CSRCONV_API
#endif

/* ------------------------------------------------------------------------- version and status */

#define CSRCONV_VERSION_MAJOR 0
#define CSRCONV_VERSION_MINOR 1
#define CSRCONV_VERSION_PATCH 0
#define CSRCONV_VERSION                                                                            \
    (CSRCONV_VERSION_MAJOR * 10000 + CSRCONV_VERSION_MINOR * 100 + CSRCONV_VERSION_PATCH)

/* The CSRCONV_VERSION of the library that is loaded, and the same as text, such as "0.1.0". */
CSRCONV_API int csrconv_version(void);
CSRCONV_API const char *csrconv_version_string(void);

/* What a call came to. The thousands name the family, so status / 1000 is enough for most callers.
 */
typedef enum csrconv_status {
    CSRCONV_OK = 0,
    /* 1000: set-up of the library or of a device */
    CSRCONV_VERSION_MISMATCH = 1001, /* a structure of a size that this library does not know */
    CSRCONV_NO_DEVICE = 1002,        /* no usable device of that kind: the sentence says why */
    /* 2000: a parameter is bad, whatever the machine */
    CSRCONV_BAD_ARGUMENT = 2001, /* a NULL pointer, a value out of its range */
    CSRCONV_BAD_GEOMETRY = 2002, /* sizes that make no convolution, or whose products overflow */
    CSRCONV_BAD_CSR = 2003,      /* row pointers or columns out of order, out of range, doubled */
    CSRCONV_BAD_BUFFER = 2004,   /* misaligned, overlapping or too small */
    CSRCONV_UNKNOWN_ALGORITHM = 2005,
    CSRCONV_BAD_BLOB = 2006, /* no blob, not whole, or of another problem, machine or version */
    /* 3000: valid, but refused here */
    CSRCONV_NOT_SUPPORTED = 3001, /* the algorithm cannot run this problem: the sentence says why */
    CSRCONV_NOT_BUILT = 3002,     /* this build of the library lacks it */
    /* 4000: memory, or a fault of the library */
    CSRCONV_OUT_OF_MEMORY = 4001,
    CSRCONV_INTERNAL = 4002,
    /* 5000: the computation failed while it ran */
    CSRCONV_EXECUTION_FAILED = 5001
} csrconv_status;

/* The name of a status, such as "CSRCONV_BAD_CSR"; "unknown status" for any other number. */
CSRCONV_API const char *csrconv_status_string(csrconv_status status);

/*
 * One sentence about the last call that failed on this thread, with the values that were wrong; ""
 * before the first failure. To be read right after a failure: it is valid until the next csrconv
 * call on the same thread, which may leave another sentence even if it succeeds.
 */
CSRCONV_API const char *csrconv_last_error(void);

/* ---------------------------------------------------------------------------- caller's services */

/*
 * Where the library takes its memory from; NULL hooks anywhere below mean the C library's.
 * allocate returns `bytes` bytes (never 0) aligned to `alignment` (a power of two), or NULL.
 * release gets what allocate returned, never NULL. Both may be called from any thread that calls
 * the library, and from several at once that compile a plan; they must stay valid for as long as an
 * object made with them lives.
 */
typedef struct csrconv_allocator {
    void *context;
    void *(*allocate)(void *context, size_t bytes, size_t alignment);
    void (*release)(void *context, void *memory);
} csrconv_allocator;

/*
 * A parallel loop of the caller's, used by CPU plans instead of OpenMP. run calls
 * task(argument, i) exactly once for each i in [0, count), in any order, on any threads, at the
 * same time if it likes, and returns when all of them have returned. `threads` says how many run at
 * once at the most, which is how finely the work is cut. Must stay valid as long as the plan.
 */
typedef struct csrconv_parallel {
    void *context;
    int threads;
    void (*run)(void *context, int64_t count, void (*task)(void *argument, int64_t index),
                void *argument);
} csrconv_parallel;

/* ------------------------------------------------------------------------------------- geometry */

/*
 * One convolution layer. Activations are NCHW float32, densely packed but for the distance between
 * images. out_height = (height + pad_top + pad_bottom - dilation_h * (kernel_h - 1) - 1) / stride_h
 * + 1, rounded down, and the same for the width; both must come to at least 1.
 */
typedef struct csrconv_geometry {
    size_t struct_size;
    int64_t batch;    /* N: the most images that one execute gets */
    int64_t channels; /* C: of the input, over all groups */
    int64_t height;   /* H */
    int64_t width;    /* W */
    int64_t filters;  /* M: output channels, over all groups */
    int64_t kernel_h; /* R */
    int64_t kernel_w; /* S */
    int64_t stride_h, stride_w;
    int64_t dilation_h, dilation_w; /* 1 = none */
    int64_t pad_top, pad_left, pad_bottom, pad_right;
    int64_t groups;           /* divides channels and filters */
    int64_t in_batch_stride;  /* floats from an image to the next; 0 = channels * height * width */
    int64_t out_batch_stride; /* the same; 0 = filters * out_height * out_width */
} csrconv_geometry;

/* All ones for batch, strides, dilations and groups; no padding; the rest is 0 and to be set. */
static inline void csrconv_geometry_init(csrconv_geometry *geometry)
{
    const csrconv_geometry plain = {
        sizeof(csrconv_geometry), 1, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0, 1, 0, 0
    };
    *geometry = plain;
}

/*
 * Checks a geometry and gives the size of its output. Either of the pointers may be NULL.
 * CSRCONV_BAD_GEOMETRY names the member that is wrong, or the product that overflows 64 bits.
 */
CSRCONV_API csrconv_status csrconv_output_size(const csrconv_geometry *geometry,
                                               int64_t *out_height, int64_t *out_width);

/* -------------------------------------------------------------------------------------- weights */

/*
 * A filter bank as a CSR matrix: one row per filter, M = filters rows. A column is
 * (c * kernel_h + r) * kernel_w + s with c counted within the filter's group, so that there are
 * channels_per_group * kernel_h * kernel_w columns, at most 2^31 - 1.
 */
typedef struct csrconv_csr {
    size_t struct_size;
    int64_t filters;
    int64_t channels_per_group;
    int64_t kernel_h;
    int64_t kernel_w;
    const int64_t *indptr;  /* filters + 1 */
    const int32_t *indices; /* indptr[filters]; may be NULL if that is 0 */
    const float *values;    /* likewise */
} csrconv_csr;

static inline void csrconv_csr_init(csrconv_csr *csr)
{
    const csrconv_csr empty = { sizeof(csrconv_csr), 0, 0, 0, 0, NULL, NULL, NULL };
    *csr = empty;
}

typedef struct csrconv_weights csrconv_weights;

/*
 * Weights from a dense OIHW array of filters * channels_per_group * kernel_h * kernel_w floats.
 * Zeros (of either sign) are pruned weights; NaN and infinities are weights. allocator may be NULL.
 */
CSRCONV_API csrconv_status csrconv_weights_from_dense(const float *oihw, int64_t filters,
                                                      int64_t channels_per_group, int64_t kernel_h,
                                                      int64_t kernel_w,
                                                      const csrconv_allocator *allocator,
                                                      csrconv_weights **out);

/*
 * Weights from a caller's CSR. Columns may stand in any order within a row; doubled columns and
 * columns out of range are CSRCONV_BAD_CSR with the row named. Stored zeros are dropped.
 */
CSRCONV_API csrconv_status csrconv_weights_from_csr(const csrconv_csr *csr,
                                                    const csrconv_allocator *allocator,
                                                    csrconv_weights **out);

/* A view of the weights, columns ascending, no zeros; it points into the weights and dies with
 * them. */
CSRCONV_API csrconv_status csrconv_weights_view(const csrconv_weights *weights, csrconv_csr *view);

CSRCONV_API void csrconv_weights_destroy(csrconv_weights **weights);

/*
 * Prune `count` dense weights in place until round(sparsity * count) of them are zero, zeros that
 * are there already counted (more of them than asked for are left as they are). 0 <= sparsity < 1.
 * Magnitude zeroes the smallest |w|, of equal ones that with the lowest index first; NaN counts as
 * the largest. Random zeroes others with equal probability, repeatably for a seed.
 */
CSRCONV_API csrconv_status csrconv_prune_magnitude(float *weights, int64_t count, double sparsity);
CSRCONV_API csrconv_status csrconv_prune_random(float *weights, int64_t count, double sparsity,
                                                uint64_t seed);

/* ----------------------------------------------------------------------------------- algorithms */

/*
 * A call for a GPU that is not the thread's current one makes it current and, before it returns,
 * the previous one again. CUDA initialises a device that is made current: in a thread that had none
 * the previous one is cuda:0, which then gets a context too. Who wants to be on another GPU alone
 * calls cudaSetDevice for it first, or hides the others from CUDA.
 */
typedef enum csrconv_device {
    CSRCONV_DEVICE_AUTO = 0, /* CUDA if there is a usable GPU, else the CPU */
    CSRCONV_DEVICE_CPU = 1,
    CSRCONV_DEVICE_CUDA = 2
} csrconv_device;

/* CSRCONV_OK if plans can be made for that device; else a status and a sentence that says why not.
 */
CSRCONV_API csrconv_status csrconv_device_usable(csrconv_device device, int ordinal);

typedef struct csrconv_algorithm csrconv_algorithm;

/* All algorithms of this build's own, ended by NULL; static storage. */
CSRCONV_API const csrconv_algorithm *const *csrconv_algorithms(void);

/* What an algorithm is. The texts have static storage. */
typedef struct csrconv_algorithm_info {
    size_t struct_size;
    const char *name;      /* as csrconv_plan_options.algorithm takes it */
    const char *summary;   /* one line */
    csrconv_device device; /* CPU or CUDA */
    int is_peer;           /* 1: a vendor library behind the same interface */
    int is_dense;          /* 1: computes with the zeros too */
    const char *math;      /* arithmetic of the products, such as "fp32" */
    const char *layout;    /* of the activations inside, such as "nchw" */
    const char *version;   /* of the vendor's library; "" for csrconv's own */
    const char *limits;    /* promises of csrconv_execute that it cannot keep; NULL: it keeps all */
} csrconv_algorithm_info;

CSRCONV_API csrconv_status csrconv_algorithm_describe(const csrconv_algorithm *algorithm,
                                                      csrconv_algorithm_info *info);

/* ---------------------------------------------------------------------------------------- plans */

typedef enum csrconv_activation {
    CSRCONV_ACTIVATION_NONE = 0,
    CSRCONV_ACTIVATION_RELU = 1, /* x < 0 ? 0 : x */
    CSRCONV_ACTIVATION_CLAMP = 2 /* x < lo ? lo : x > hi ? hi : x */
} csrconv_activation;            /* NaN goes through each of them */

/* out = activation(convolution + bias + residual). */
typedef struct csrconv_epilogue {
    const float *bias; /* `filters` floats, or NULL; copied, also if the plan is for a GPU */
    int residual;      /* 1: executes get a residual, a tensor of the output's layout */
    csrconv_activation activation;
    float lo, hi; /* of clamp; lo <= hi */
} csrconv_epilogue;

/*
 * Some algorithms compile the weights into code, which takes seconds of all the machine's cores for
 * a large layer. The code can be kept: csrconv_plan_blob.
 */
typedef enum csrconv_compile {
    CSRCONV_COMPILE_AUTO = 0, /* by the automatic choice, if a tenth is won by estimate */
    CSRCONV_COMPILE_NEVER = 1 /* only by an algorithm that is named, or by that of a blob */
} csrconv_compile;

typedef struct csrconv_plan_options {
    size_t struct_size;
    csrconv_device device;
    int ordinal;
    /*
     * A name; or NULL or "auto": the fastest of csrconv's own by estimate; or "any": peers are
     * considered too.
     */
    const char *algorithm;
    int threads; /* that a CPU plan runs on, or that compile; 0 = as many as the machine has */
    csrconv_epilogue epilogue;
    const csrconv_allocator *allocator;    /* NULL: the C library's; the hooks are copied */
    const csrconv_parallel *parallel;      /* NULL: OpenMP, or serial without it; copied */
    const csrconv_algorithm *const *peers; /* NULL, or more algorithms, ended by NULL */
    /*
     * 1: "auto" and "any" measure instead of estimating. Each algorithm that may be taken and runs
     * the problem is prepared and timed while the plan is made, on tensors of the plan's own that
     * are gone afterwards; on a GPU as replays of a graph, on a stream of its own. An algorithm
     * that is named is not measured.
     */
    int tune;
    /*
     * NULL, or a text of csrconv_plan_choice: its algorithm is taken, and nothing is measured or
     * estimated against it. It goes with "auto" or "any"; one for another version of csrconv,
     * device, geometry, epilogue or other nonzeros is CSRCONV_NOT_SUPPORTED.
     */
    const char *choice;
    csrconv_compile compile;
    /*
     * What csrconv_plan_blob gave for the same weights, geometry and epilogue, to be taken instead
     * of compiling; NULL: none. The algorithm is the blob's then, as if it had been named. A BLOB
     * IS A PROGRAM: it runs on the GPU with the rights of the process. One that was damaged, or is
     * of something else, is refused; one that somebody made to do harm is not told from a good
     * one. So blobs come from where programs come from, and lie where nobody else can write.
     */
    const void *blob;
    size_t blob_bytes;
} csrconv_plan_options;

static inline void csrconv_plan_options_init(csrconv_plan_options *options)
{
    const csrconv_plan_options plain = { sizeof(csrconv_plan_options),
                                         CSRCONV_DEVICE_AUTO,
                                         0,
                                         NULL,
                                         0,
                                         { NULL, 0, CSRCONV_ACTIVATION_NONE, 0.0F, 0.0F },
                                         NULL,
                                         NULL,
                                         NULL,
                                         0,
                                         NULL,
                                         CSRCONV_COMPILE_AUTO,
                                         NULL,
                                         0 };
    *options = plain;
}

typedef struct csrconv_plan csrconv_plan;

/*
 * Chooses an algorithm and prepares everything that depends on the weights and the geometry. The
 * plan does not need the weights afterwards. options may be NULL for the defaults.
 *   CSRCONV_NOT_SUPPORTED  the algorithm that was named refuses the problem, or the saved choice is
 *                          for another one; the sentence says why
 *   CSRCONV_NO_DEVICE, CSRCONV_NOT_BUILT   no such device here, or not in this build
 *   CSRCONV_BAD_BLOB       the blob is none, not whole, or of other weights, another geometry,
 *                          epilogue, GPU, compiler or version: to be made anew without it
 */
CSRCONV_API csrconv_status csrconv_plan_create(const csrconv_weights *weights,
                                               const csrconv_geometry *geometry,
                                               const csrconv_plan_options *options,
                                               csrconv_plan **out);

/* Of a plan for a GPU, once nothing that it queued runs any more, nor graphs that captured it. */
CSRCONV_API void csrconv_plan_destroy(csrconv_plan **plan);

/* What a plan came to. The texts live as long as the plan. */
typedef struct csrconv_plan_info {
    size_t struct_size;
    const csrconv_algorithm *algorithm;
    const char *reason;    /* why this algorithm */
    const char *detail;    /* how it maps the problem to the machine */
    const char *variant;   /* which of a vendor's algorithms a peer took; "" otherwise */
    csrconv_device device; /* where in, residual, out and workspace must live */
    int ordinal;           /* of that device */
    int threads;           /* that a CPU plan cuts its work for; 0: a GPU has it */
    int64_t out_height;    /* of the output */
    int64_t out_width;
    int64_t nonzeros;         /* weights that are not zero */
    size_t workspace_bytes;   /* that an execute of the whole batch needs */
    size_t plan_bytes;        /* memory that the plan holds */
    size_t blob_bytes;        /* of the code that was compiled for it; 0: none was */
    double plan_us;           /* that it took to make the plan */
    double estimate_us;       /* time of one execute of the whole batch, by the cost model */
    double dense_estimate_us; /* the same of a dense convolution on this device */
    int candidates;           /* how many algorithms were considered */
} csrconv_plan_info;

CSRCONV_API csrconv_status csrconv_plan_describe(const csrconv_plan *plan, csrconv_plan_info *info);

/*
 * The code that was compiled for a plan, to make the same plan again without compiling: writes the
 * blob_bytes of csrconv_plan_info to blob, which has that many bytes. CSRCONV_NOT_SUPPORTED if
 * nothing was compiled. csrconv_plan_options.blob says whom to trust.
 */
CSRCONV_API csrconv_status csrconv_plan_blob(const csrconv_plan *plan, void *blob,
                                             size_t blob_bytes);

/* One algorithm that was considered, in the order of the tables. */
typedef struct csrconv_candidate {
    size_t struct_size;
    const csrconv_algorithm *algorithm;
    csrconv_status status; /* CSRCONV_OK, or how it refuses */
    const char *reason;    /* why it was taken or not */
    double estimate_us;    /* 0 if it refuses */
} csrconv_candidate;

CSRCONV_API csrconv_status csrconv_plan_candidate(const csrconv_plan *plan, int index,
                                                  csrconv_candidate *candidate);

enum { CSRCONV_CHOICE_BYTES = 256 }; /* are enough for every choice */

/*
 * What the plan took, as one line of printable characters to be kept, and given as
 * csrconv_plan_options.choice to plans for the same layer: the same geometry, batch included, and
 * kind of epilogue, the same places of the nonzeros, on a device of the same model (and with the
 * same number of threads, of a CPU). The values of the weights may change. CSRCONV_BAD_BUFFER if it
 * does not fit into `bytes`.
 */
CSRCONV_API csrconv_status csrconv_plan_choice(const csrconv_plan *plan, char *text, size_t bytes);

/*
 * out = activation(conv(in) + bias) for the first n <= batch images; n = 0 does nothing.
 *
 * in has n * channels * height * width floats and out n * filters * out_height * out_width, images
 * apart by their batch strides, both 4-byte aligned, not overlapping. workspace has at least
 * workspace_bytes of csrconv_plan_info, aligned to 64 bytes (CPU) or 256 (CUDA), and may be NULL if
 * that is 0; its contents do not matter before or after. On a GPU all are device pointers and the
 * work is queued on `stream`; on the CPU stream is NULL and the work is done on return.
 *
 * Nothing is allocated, locked or waited for but the plan's own threads; nothing outside out and
 * workspace is written, nothing outside in is read; whatever out held is overwritten; two runs give
 * the same bits. Any number of threads may execute one plan, each with its own workspace and out. A
 * peer states in csrconv_algorithm_info.limits which of this it cannot keep.
 *
 * A pruned weight contributes nothing even where the activation is NaN or infinite; a dense
 * convolution would give NaN there.
 */
CSRCONV_API csrconv_status csrconv_execute(const csrconv_plan *plan, int64_t n, const float *in,
                                           float *out, void *workspace, size_t workspace_bytes,
                                           void *stream);

/*
 * The same for a plan whose epilogue has a residual: a tensor laid out as out, batch stride
 * included, 4-byte aligned, that does not overlap out.
 */
CSRCONV_API csrconv_status csrconv_execute_residual(const csrconv_plan *plan, int64_t n,
                                                    const float *in, const float *residual,
                                                    float *out, void *workspace,
                                                    size_t workspace_bytes, void *stream);

#ifdef __cplusplus
}
#endif

#endif
