/* nkilua.h -- the C interface of nkilua. C11 and C++11; needs no Lua header.

   What a host does: nkl_open a context, nkl_load_file a script, nkl_get_kernel, nkl_specialize it for given shapes and
   constants, read the artifact (backend_config, IR, HLO, names, aliases), nkl_simulate it on its own buffers,
   nkl_close.

   Errors. Functions return nkl_status: 0 is ok, negative is an error. The details are kept in the context
   (nkl_last_error), or, for functions that take no context, in an nkl_error_buf of the caller.

   Ownership. Objects come out through a pointer to pointer and are the caller's: *_release or *_free, which accept
   NULL. Getters lend: the pointer is valid as long as the object. Nothing is freed by a function that failed, and *out
   is then NULL; nkl_open alone also gives a context that failed to open.

   Threads. One context per thread at a time; nkl_interrupt alone may be called from elsewhere. nkl_program and
   nkl_tensor are counted with atomic counts, programs are immutable, and both may outlive their context.

   Structs. Every struct that the caller fills starts with struct_size = sizeof(it), set together with the defaults by
   its nkl_*_init function; elements of arrays (nkl_arg, nkl_opt, nkl_file) have none. A struct that was not initialised
   is NKL_ERR_ARG, as is a larger one with something set that this version does not know.

   NULL. A handle, a text or a place for a result that is NULL is NKL_ERR_ARG, and the message names function and
   parameter; nothing holds one when the context is NULL. Functions without a status then give 0, NULL or "", and those
   that free, initialise or only change something do nothing. What may be NULL says so where it is declared; so may a
   text or a list of length 0, a name of a chunk, an nkl_error_buf, the options of a function, a callback and its user
   pointer. Wrong pointers are not noticed: freed handles, lists shorter than their count.

   Callbacks. While one that belongs to a context or to a call on it runs, the context is busy: its functions return
   NKL_ERR_ARG and leave its last error alone, and nkl_close does nothing. A callback may use other contexts, tensors
   and programs; it must not longjmp or throw. An allocator calls nothing of this library.

   Numbers. Axes, dims, operand and output indices are 0-based. Sizes are in elements unless the name says bytes. */
#ifndef NKILUA_H
#define NKILUA_H
#include <stddef.h>
#include <stdint.h>

#define NKL_VERSION_MAJOR 0
#define NKL_VERSION_MINOR 1
#define NKL_VERSION_PATCH 0
#define NKL_VERSION_NUMBER (NKL_VERSION_MAJOR * 10000 + NKL_VERSION_MINOR * 100 + NKL_VERSION_PATCH)
#define NKL_VERSION_STRING "0.1.0"

#if defined(NKL_STATIC)
#define NKL_API
#elif defined(_WIN32)
#ifdef NKL_BUILD
#define NKL_API __declspec(dllexport)
#else
#define NKL_API __declspec(dllimport)
#endif
#else
#define NKL_API __attribute__((visibility("default")))
#endif
#if defined(__GNUC__)
#define NKL_NODISCARD __attribute__((warn_unused_result))
#else
#define NKL_NODISCARD
#endif
#ifdef __cplusplus
extern "C" {
#endif

/* ---- status and errors --------------------------------------------------------------------------------------- */

/* Values are ABI and are never renumbered. */
typedef enum nkl_status {
  NKL_OK = 0,
  NKL_ERR_NOMEM = -1,
  NKL_ERR_ARG = -2,        /* misuse of this interface, or a wrong command-line value */
  NKL_ERR_IO = -3,         /* a file cannot be read or written */
  NKL_ERR_FORMAT = -4,     /* a file, JSON, base64 or IR text is malformed */
  NKL_ERR_SYNTAX = -5,     /* Lua source does not compile */
  NKL_ERR_SCRIPT = -6,     /* a Lua error at run time */
  NKL_ERR_TRACE = -7,      /* an illegal kernel: shape, dtype, buffer, partition count ... */
  NKL_ERR_SIM = -8,        /* a fault while simulating: index out of range, read before write under strict ... */
  NKL_ERR_LIMIT = -9,      /* an instruction, memory or time budget is used up */
  NKL_ERR_CANCELLED = -10, /* nkl_interrupt */
  NKL_ERR_UNSUPPORTED = -11,
  NKL_ERR_HOST = -12,    /* a callback of the host failed */
  NKL_ERR_INTERNAL = -13 /* our fault */
} nkl_status;

/* One error. All pointers are never NULL ("" when unknown). */
typedef struct nkl_error {
  nkl_status status;
  const char *id;        /* stable: "err_..." */
  const char *message;   /* UTF-8, one line */
  const char *notes;     /* further lines */
  const char *traceback; /* Lua traceback or the call chain of the instruction */
  const char *file;      /* relative to the script's folder */
  int line;              /* 0 when unknown */
} nkl_error;

/* Filled by functions that take no context. Initialise with NKL_ERROR_BUF_INIT, free with nkl_error_buf_free. */
typedef struct nkl_error_buf {
  nkl_error error;
  void *reserved;
} nkl_error_buf;
#define NKL_ERROR_BUF_INIT \
  { {NKL_OK, "", "", "", "", "", 0}, NULL }
NKL_API void nkl_error_buf_free(nkl_error_buf *e);

/* Bytes filled by nkl_*, freed by nkl_buf_free; data has a NUL after size bytes. */
typedef struct nkl_buf {
  char *data;
  size_t size;
  void *reserved;
} nkl_buf;
#define NKL_BUF_INIT \
  { NULL, 0, NULL }
NKL_API void nkl_buf_free(nkl_buf *b); /* also of an empty one; leaves it empty */

NKL_API int nkl_version_number(void);              /* of the library at run time; compare with NKL_VERSION_NUMBER */
NKL_API const char *nkl_version_string(void);      /* static */
NKL_API const char *nkl_status_name(nkl_status s); /* static, "NKL_ERR_TRACE"; "NKL_ERR_UNKNOWN" for other numbers */

/* ---- opaque types -------------------------------------------------------------------------------------------- */
typedef struct nkl_ctx nkl_ctx;         /* owns one Lua state */
typedef struct nkl_kernel nkl_kernel;   /* a kernel of a context; ref-counted; must be released before nkl_close */
typedef struct nkl_program nkl_program; /* an artifact: one immutable specialization */
typedef struct nkl_tensor nkl_tensor;   /* an array of the host's or of nkilua's */

/* ---- element types ------------------------------------------------------------------------------------------- */
typedef enum nkl_dtype {
  NKL_INVALID = 0,
  NKL_BOOL,
  NKL_U8,
  NKL_I8,
  NKL_U16,
  NKL_I16,
  NKL_U32,
  NKL_I32,
  NKL_F32,
  NKL_BF16,
  NKL_F16,
  NKL_TF32,
  NKL_F8E4M3,
  NKL_F8E5M2,
  NKL_F8E4M3FN,
  NKL_F8E8M0FNU,
  NKL_F8E5M2_X4,
  NKL_F8E4M3FN_X4,
  NKL_F4E2M1FN_X4
} nkl_dtype;
NKL_API size_t nkl_dtype_size(nkl_dtype d);                      /* bytes; 0 for NKL_INVALID */
NKL_API const char *nkl_dtype_name(nkl_dtype d);                 /* static, "bfloat16" */
NKL_API nkl_dtype nkl_dtype_parse(const char *name, size_t len); /* NKI, HLO or MLIR name; NKL_INVALID when unknown */

/* ---- contexts ------------------------------------------------------------------------------------------------ */

/* Same contract as lua_Alloc: nsize 0 frees; NULL on failure. Must outlive every handle. */
typedef void *(*nkl_alloc_fn)(void *ud, void *ptr, size_t osize, size_t nsize);
/* Receives what scripts print (print, io.write is not redirected) and what device_print says. */
typedef void (*nkl_write_fn)(void *ud, const char *text, size_t len);

/* nkl_options.flags. LUA_INIT is never read: that is the command's business. */
enum {
  NKL_OPT_IGNORE_ENV = 1u << 0,   /* LUA_PATH* and LUA_CPATH* are not read */
  NKL_OPT_STRICT = 1u << 1,       /* kernels that a script runs: a read of never-written elements is an error */
  NKL_OPT_EXPLAIN_CACHE = 1u << 2 /* warn gets one line per specialization: found where, or traced why */
};
typedef struct nkl_options {
  uint32_t struct_size;
  uint32_t flags;
  nkl_alloc_fn alloc; /* NULL: realloc and free */
  void *alloc_ud;
  nkl_write_fn write; /* NULL: standard output */
  void *write_ud;
  nkl_write_fn warn; /* warnings and reports; NULL: standard error */
  void *warn_ud;
  const char *target; /* "trn2" ...; NULL: NEURON_PLATFORM_TARGET_OVERRIDE, else the machine, else trn1 as a fallback */
  uint64_t memory_limit; /* bytes of the Lua state; 0: none */
  const char *cache_dir; /* folder of the persistent cache (docs/lifecycle.md); NULL: NKILUA_CACHE_DIR; "": none */
} nkl_options;
NKL_API void nkl_options_init(nkl_options *o);

/* Opens a context with the standard Lua libraries and the nki modules. *out is set even on error when possible, so that
   nkl_last_error can be read; close it in any case. */
NKL_API NKL_NODISCARD nkl_status nkl_open(nkl_ctx **out, const nkl_options *o /* NULL: defaults */);
NKL_API void nkl_close(nkl_ctx *c);
/* Never NULL: one object as long as c lives, of which each call on c makes its own; its texts last until the next. */
NKL_API const nkl_error *nkl_last_error(const nkl_ctx *c);
/* Stops the running script or simulation as soon as possible with NKL_ERR_CANCELLED, also inside coroutines and loops
   of pcall. With nothing running, the next call is stopped. Callable from any thread and from signal handlers, until
   nkl_close begins. A C function that a script calls, such as io.read or string.find, is left first. */
NKL_API void nkl_interrupt(nkl_ctx *c);

/* ---- scripts ------------------------------------------------------------------------------------------------- */

/* Runs a script (text only, never bytecode; a first line starting with # is skipped) and keeps what it returns: a
   kernel, or a table of kernels, see nkl_get_kernel. With argv, the words behind script_index become `...`, and all of
   them the table `arg` (arg[0] = argv[script_index], arg[-1] the word before it). A missing file is NKL_ERR_IO. */
typedef struct nkl_script {
  uint32_t struct_size;
  const char *path;   /* file, "-" for standard input; ignored when source is set */
  const char *source; /* source text, may contain NUL */
  size_t source_len;
  const char *chunkname;   /* name for source, as luaL_loadbuffer takes it ("=name", "@file") */
  const char *const *argv; /* the whole command line, or NULL */
  int argc, script_index;  /* argv[script_index] is arg[0] */
} nkl_script;
NKL_API void nkl_script_init(nkl_script *s);
NKL_API NKL_NODISCARD nkl_status nkl_load(nkl_ctx *c, const nkl_script *script);
NKL_API NKL_NODISCARD nkl_status nkl_load_file(nkl_ctx *c, const char *path);
NKL_API NKL_NODISCARD nkl_status nkl_load_string(nkl_ctx *c, const char *src, size_t len, const char *chunkname);
/* Calls require(name) and sets the global `global` (NULL: name up to the first '-') to its result, as lua -l does. */
NKL_API NKL_NODISCARD nkl_status nkl_require(nkl_ctx *c, const char *name, const char *global);
/* Sets the global table `arg` without running anything. */
NKL_API NKL_NODISCARD nkl_status nkl_set_arg(nkl_ctx *c, const char *const *argv, int argc, int script_index);
NKL_API void nkl_warnings(nkl_ctx *c, int on); /* lua -W */

/* One line or chunk of an interactive session. The text is tried as an expression first, whose values come as text
   ready to show. *incomplete is set when more lines could complete it; then nothing ran. The first call sets the global
   function help(topic) unless there is a global of that name. */
NKL_API NKL_NODISCARD nkl_status nkl_eval(nkl_ctx *c, const char *src, size_t len, const char *chunkname,
                                          int *incomplete, nkl_buf *out);
/* Completions of the word that ends at src[len): '\n'-separated, sorted; runs no metamethods. */
NKL_API NKL_NODISCARD nkl_status nkl_complete(nkl_ctx *c, const char *src, size_t len, nkl_buf *out);
/* Text of help(topic): an instruction ("nisa.activation"), a function ("nl.load"), a method of tensors, a dtype, an
   error id; NULL lists the topics. An unknown topic is NKL_ERR_ARG and names the nearest. */
NKL_API NKL_NODISCARD nkl_status nkl_help(nkl_ctx *c, const char *topic, nkl_buf *out);
/* What Lua cannot trap in a file of kernels, which does not run: lines "file:line:column: lint_id: text" in order, or
   with json one object {"file", "findings": [{"line", "column", "id", "text"}]}. "-" is standard input. *findings: how
   many there are. A file that does not compile is NKL_ERR_SYNTAX. docs/lua-hazards.md lists the rules. */
NKL_API NKL_NODISCARD nkl_status nkl_lint(nkl_ctx *c, const char *path, int json, nkl_buf *out, size_t *findings);
/* Runs busted in this process; argv[0] is the program's name, the rest busted's own arguments. Returns NKL_OK when all
   passed. Ends the process with status 1 when a spec fails, as busted does. */
NKL_API NKL_NODISCARD nkl_status nkl_run_specs(nkl_ctx *c, const char *const *argv, int argc);

/* ---- tensors ------------------------------------------------------------------------------------------------- */
#define NKL_MAX_RANK 8
typedef struct nkl_tensor_desc {
  uint32_t struct_size;
  nkl_dtype dtype;
  int32_t rank; /* 0..NKL_MAX_RANK */
  int64_t shape[NKL_MAX_RANK];
  int64_t byte_strides[NKL_MAX_RANK]; /* all 0: C-contiguous */
  void *data;
  size_t nbytes;
} nkl_tensor_desc;
NKL_API void nkl_tensor_desc_init(nkl_tensor_desc *d);
/* Copies desc->data, which starts at the first element; strides may be any, and nbytes counts from the first byte that
   they reach to the last. Zero-fills when data is NULL. */
NKL_API NKL_NODISCARD nkl_status nkl_tensor_new(nkl_ctx *c, const nkl_tensor_desc *desc, nkl_tensor **out);
/* Borrows desc->data, C-contiguous and aligned to the size of an element, until release(ud, data) is called; release
 * may be NULL. */
NKL_API NKL_NODISCARD nkl_status nkl_tensor_wrap(nkl_ctx *c, const nkl_tensor_desc *desc,
                                                 void (*release)(void *ud, void *data), void *ud, nkl_tensor **out);
/* One more owner, returned for convenience; one less, the last of whom frees it. */
NKL_API nkl_tensor *nkl_tensor_retain(nkl_tensor *t);
NKL_API void nkl_tensor_release(nkl_tensor *t);
/* Shape, dtype, strides and bytes; data is lent and may be written through. */
NKL_API void nkl_tensor_describe(const nkl_tensor *t, nkl_tensor_desc *out);
/* Reads .npy, .npz and .safetensors. member NULL: the only one; that of an .npy has no name. dtype NKL_INVALID: as the
   file says; a file of 64-bit numbers or of raw bytes (NumPy's V2) needs one. Numbers are converted, to integers only
   when every value fits; raw bytes are taken as they are. */
NKL_API NKL_NODISCARD nkl_status nkl_tensor_load(nkl_ctx *c, const char *path, const char *member, nkl_dtype dtype,
                                                 nkl_tensor **out);
/* The same for a word of the VALUE grammar: "a.npy:f32", "b.npz:name", "w.safetensors:name:bf16". raw: what raw bytes
   of its size are when the word names no dtype; NKL_INVALID: nothing is known. */
NKL_API NKL_NODISCARD nkl_status nkl_tensor_load_word(nkl_ctx *c, const char *word, nkl_dtype raw, nkl_tensor **out);
/* One file to write: one tensor for .npy and "-" (standard output, as .npy), several with names for .npz and
 * .safetensors. */
typedef struct nkl_file {
  const char *path;
  nkl_tensor *const *tensors;
  const char *const *names; /* one per tensor; may be NULL for .npy */
  size_t count;
} nkl_file;
/* Writes the files, all or none: each is complete under a temporary name before the first takes its place. */
NKL_API NKL_NODISCARD nkl_status nkl_tensor_save(nkl_ctx *c, const nkl_file *files, size_t n);
/* One line: "x float32[128,512] min -3.1 max 2.9 mean 0.01" and its values, when they are few, else the four corners of
   its first matrix. min, max and mean leave NaNs out, whose number is added when there are any. json 1: the same as a
   JSON object. */
NKL_API NKL_NODISCARD nkl_status nkl_tensor_summary(nkl_ctx *c, const nkl_tensor *t, const char *name, int json,
                                                    nkl_buf *out);
/* *mismatches counts the elements with |a-b| > atol + rtol*|b|; NaN equals NaN only, infinities equal themselves.
   report: one line, the largest differences and the first mismatch. Shapes and dtypes must agree (NKL_ERR_ARG). */
NKL_API NKL_NODISCARD nkl_status nkl_tensor_compare(nkl_ctx *c, const nkl_tensor *actual, const nkl_tensor *desired,
                                                    double rtol, double atol, int64_t *mismatches, nkl_buf *report);

/* Whole files as bytes, "-" is standard input or output; written complete or not at all. */
NKL_API NKL_NODISCARD nkl_status nkl_file_read(nkl_ctx *c, const char *path, nkl_buf *out);
NKL_API NKL_NODISCARD nkl_status nkl_file_write(nkl_ctx *c, const char *path, const char *data, size_t n);
/* The same bytes to each of several paths: all of them or, as far as the system allows, none. */
NKL_API NKL_NODISCARD nkl_status nkl_files_write(nkl_ctx *c, const char *const *paths, size_t npaths, const char *data,
                                                 size_t n);
/* Could a file be written there ("-" can)? For asking before long work whose result would be lost. tensor 1: also
   whether the name ends as a tensor file's (NKL_ERR_ARG). Nothing is made or changed. */
NKL_API NKL_NODISCARD nkl_status nkl_file_check(nkl_ctx *c, const char *path, int tensor);

/* ---- host frameworks: the three hooks ------------------------------------------------------------------------ */
/* How objects of a host's framework become arguments (NKL_ARG_FRAMEWORK). */
typedef struct nkl_framework {
  uint32_t struct_size;
  const char *name;
  void *ud;
  int (*is_framework_tensor)(void *ud, const void *obj); /* 1: a tensor; 0: then it is no legal argument */
  nkl_status (*map_framework_tensor)(void *ud, const void *obj, int32_t *rank, int64_t shape[NKL_MAX_RANK],
                                     const void **host_dtype);
  nkl_dtype (*translate_to_neuron_dtype)(void *ud, const void *host_dtype); /* NKL_INVALID: unsupported */
  /* optional, for nkl_call: the tensor's own bytes */
  nkl_status (*map_data)(void *ud, void *obj, int writable, nkl_tensor_desc *out);
  void (*unmap_data)(void *ud, void *obj, int dirty);
} nkl_framework;
NKL_API void nkl_framework_init(nkl_framework *f);
NKL_API NKL_NODISCARD nkl_status nkl_set_framework(nkl_ctx *c, const nkl_framework *f /* copied; NULL clears */);

/* ---- kernels ------------------------------------------------------------------------------------------------- */
/* A kernel that the last loaded script returned: name NULL when it returned one kernel or a table of one, else its key
 * in that table. */
NKL_API NKL_NODISCARD nkl_status nkl_get_kernel(nkl_ctx *c, const char *name, nkl_kernel **out);
/* Kernels are counted without atomics: they belong to their context's thread. */
NKL_API nkl_kernel *nkl_kernel_retain(nkl_kernel *k);
NKL_API void nkl_kernel_release(nkl_kernel *k);
NKL_API int nkl_kernel_param_count(const nkl_kernel *k);
NKL_API const char *nkl_kernel_param_name(const nkl_kernel *k, int i); /* lent; NULL when there is no i-th one */
/* Names of the kernels in the table that the last script returned, '\n'-separated; "" when it returned one kernel. */
NKL_API NKL_NODISCARD nkl_status nkl_kernel_names(nkl_ctx *c, nkl_buf *out);
/* "auto", "simulation", "jax", "torchxla", "legacy" or "framework" (of a class written in Lua); static. */
NKL_API const char *nkl_kernel_mode(const nkl_kernel *k);
/* Options of nki.jit; grid and opts are those of a request. What stays as nkl_kernel_options_init leaves it is not
   changed. */
typedef struct nkl_kernel_options {
  uint32_t struct_size;
  const char *mode, *func_name;
  const char *platform_target; /* nkl_options.target, when set, goes before it */
  int enable_cache;            /* 0 or 1 */
  int64_t cache_size;
} nkl_kernel_options;
NKL_API void nkl_kernel_options_init(nkl_kernel_options *o);
/* A copy with other options, as k:replace makes it: it shares the cache of k unless it has a cache_size of its own. */
NKL_API NKL_NODISCARD nkl_status nkl_kernel_replace(const nkl_kernel *k, const nkl_kernel_options *options,
                                                    nkl_kernel **out);

typedef enum nkl_arg_kind {
  NKL_ARG_NIL,
  NKL_ARG_BOOL,
  NKL_ARG_INT,
  NKL_ARG_NUM,
  NKL_ARG_STR,
  NKL_ARG_TUPLE,
  NKL_ARG_TENSOR,
  NKL_ARG_DECL,
  NKL_ARG_FRAMEWORK
} nkl_arg_kind;
/* One argument of a kernel, or an item of a tuple. An operand has a shape and a dtype, whatever kind it comes as. */
typedef struct nkl_arg {
  const char *name; /* NULL: positional */
  nkl_arg_kind kind;
  union {
    int b;
    int64_t i;
    double n;
    struct {
      const char *p;
      size_t len;
    } s;
    struct {
      const struct nkl_arg *items;
      size_t n;
    } tuple;
    nkl_tensor *t;               /* shape, dtype and (for simulation) data */
    const nkl_tensor_desc *decl; /* shape and dtype only */
    void *obj;                   /* an object of the framework */
  } u;
} nkl_arg;

typedef struct nkl_opt {
  const char *key;
  nkl_arg value;
} nkl_opt; /* bool, int, num or str */
/* How an axis of a grid is spread over physical cores: index i is on core i / block mod count; block is 1, or all that
   a core has (the axis's size / count). An axis that stays on one core has count 0 or 1, and its block says nothing. */
typedef struct nkl_cores {
  int64_t count, block;
} nkl_cores;
typedef struct nkl_request {
  uint32_t struct_size;
  nkl_kernel *kernel;
  const nkl_arg *args;
  size_t nargs;
  const int64_t *grid;
  size_t ngrid;
  const nkl_opt *opts; /* compile options carried into key and config */
  size_t nopts;
  const nkl_cores *cores; /* ngrid of them, as nl.nc and nl.spmd_dim say in Lua; NULL: plain numbers */
} nkl_request;
NKL_API void nkl_request_init(nkl_request *r);
/* The cached artifact for this signature, or a new one (the body is re-executed). */
NKL_API NKL_NODISCARD nkl_status nkl_specialize(nkl_ctx *c, const nkl_request *request, nkl_program **out);

/* Command-line words "name=VALUE" or "VALUE" bound to the parameters of k: files are read, shapes are filled as the
   VALUE grammar says (docs/command.md). shapes_only: tensors become declarations, nothing is filled. seed: of fills
   that name none. The result holds one named argument per word and lives until nkl_bound_free; its tensors are lent. */
typedef struct nkl_bound nkl_bound;
typedef struct nkl_bind_options {
  uint32_t struct_size;
  int shapes_only;
  uint64_t seed;
} nkl_bind_options;
NKL_API void nkl_bind_options_init(nkl_bind_options *o);
NKL_API NKL_NODISCARD nkl_status nkl_bind_words(nkl_ctx *c, const nkl_kernel *k, const char *const *words, size_t n,
                                                const nkl_bind_options *o, nkl_bound **out);
/* The same for a program without its source. Tensors go to its inputs; a constant must be the one the program was
   specialized with, by name or in order. */
NKL_API NKL_NODISCARD nkl_status nkl_bind_program(nkl_ctx *c, const nkl_program *p, const char *const *words, size_t n,
                                                  const nkl_bind_options *o, nkl_bound **out);
NKL_API const nkl_arg *nkl_bound_args(const nkl_bound *b, size_t *n);
/* The tensor of every input of p, in order, for nkl_sim.inputs: tensors[0..nkl_program_input_count(p)), lent.
   NKL_ERR_ARG names one that is missing. */
NKL_API NKL_NODISCARD nkl_status nkl_bound_inputs(nkl_ctx *c, const nkl_bound *b, const nkl_program *p,
                                                  nkl_tensor **tensors);
NKL_API void nkl_bound_free(nkl_bound *b);

/* ---- programs (artifacts) ------------------------------------------------------------------------------------ */
/* Strict: decodes, parses and verifies; needs no context and no source. */
NKL_API NKL_NODISCARD nkl_status nkl_program_decode(const char *backend_config, size_t len, nkl_program **out,
                                                    nkl_error_buf *err);
/* The same for the text of a file, "-" is standard input. What begins as no backend_config does is refused before the
   rest is read. */
NKL_API NKL_NODISCARD nkl_status nkl_program_load(const char *path, nkl_program **out, nkl_error_buf *err);
NKL_API nkl_program *nkl_program_retain(nkl_program *p);
NKL_API void nkl_program_release(nkl_program *p);

typedef enum nkl_format {
  NKL_FMT_IR = 0,             /* MLIR text */
  NKL_FMT_BACKEND_CONFIG = 1, /* base64, one line */
  NKL_FMT_CONFIG_JSON = 2,    /* the same, decoded and indented */
  NKL_FMT_HLO = 3,            /* HLO text */
  NKL_FMT_STABLEHLO = 4,
  NKL_FMT_HLO_PROTO = 5 /* binary xla.HloModuleProto */
} nkl_format;
NKL_API NKL_NODISCARD nkl_status nkl_program_render(const nkl_program *p, nkl_format f, nkl_buf *out,
                                                    nkl_error_buf *err);

/* A tensor that a program takes or gives; name is lent. */
typedef struct nkl_io {
  const char *name;
  nkl_dtype dtype;
  int32_t rank;
  int64_t shape[NKL_MAX_RANK];
} nkl_io;
NKL_API const char *nkl_program_name(const nkl_program *p); /* func_name */
/* Of the custom-call: "AwsNeuronCustomNativeKernel", "AwsNeuronNkiKernel" for torch-xla. */
NKL_API const char *nkl_program_call_target(const nkl_program *p);
NKL_API const char *nkl_program_target(const nkl_program *p);
NKL_API int nkl_program_target_is_fallback(const nkl_program *p);
NKL_API const char *nkl_program_cache_key(const nkl_program *p); /* 32 hex digits; "" when decoded */
NKL_API int64_t nkl_program_mac_count(const nkl_program *p);
NKL_API int nkl_program_has_collectives(const nkl_program *p);
NKL_API int nkl_program_result_is_sequence(const nkl_program *p);
NKL_API size_t nkl_program_grid(const nkl_program *p, int64_t grid[NKL_MAX_RANK]); /* returns the rank */
/* The same of the axes' cores, {1, 1} for an axis on one core; returns the rank of the grid. */
NKL_API size_t nkl_program_cores(const nkl_program *p, nkl_cores cores[NKL_MAX_RANK]);
NKL_API size_t nkl_program_input_count(const nkl_program *p);
NKL_API size_t nkl_program_output_count(const nkl_program *p);
/* NKL_ERR_ARG when there is no i-th one; *out is then zero. */
NKL_API nkl_status nkl_program_input(const nkl_program *p, size_t i, nkl_io *out);
NKL_API nkl_status nkl_program_output(const nkl_program *p, size_t i, nkl_io *out);
/* Tensors whose values belong to the program. They are operands of the custom-call, behind the inputs; a simulation has
   them already. *data: the elements, C-contiguous, lent. NKL_ERR_ARG when there is no i-th one; *out is then zero and
   *data NULL. */
NKL_API size_t nkl_program_constant_count(const nkl_program *p);
NKL_API nkl_status nkl_program_constant(const nkl_program *p, size_t i, nkl_io *out, const void **data);
/* Outputs that are an input: the kernel wrote or returned its operand. Ordered by output; NKL_ERR_ARG and -1, -1 when
   there is no i-th one. */
NKL_API size_t nkl_program_alias_count(const nkl_program *p);
NKL_API nkl_status nkl_program_alias(const nkl_program *p, size_t i, int32_t *operand, int32_t *output);
/* Kernels that were called inside the program's kernel, in the order of the calls, of all its distinct programs. They
   are known as long as the program comes from a trace or the cache; a config does not hold them. Texts are lent. */
typedef struct nkl_node {
  const char *class_name; /* "ExternalNativeNkiKernel", "InternalMaterializedNkiKernel" */
  const char *func_name;
  const char *library;   /* module of the kernel library, NULL: a kernel of the user's */
  const char *cache_key; /* of the specialization that was spliced in, NULL: the body ran inside the caller's */
  uint32_t depth;        /* 0: called by the kernel itself, 1: by a kernel that it called, ... */
  const char *file;      /* of the call, NULL: not known */
  int line;
  size_t noperands, nresults;
} nkl_node;
NKL_API size_t nkl_program_node_count(const nkl_program *p);
NKL_API nkl_status nkl_program_node(const nkl_program *p, size_t i, nkl_node *out);
/* The k-th operand of node i: its parameter, and the tensor of the program that was given; the name of its k-th
   result. NKL_ERR_ARG and NULL when there is none. */
NKL_API nkl_status nkl_program_node_operand(const nkl_program *p, size_t i, size_t k, const char **param,
                                            const char **tensor);
NKL_API nkl_status nkl_program_node_result(const nkl_program *p, size_t i, size_t k, const char **tensor);

/* ---- simulation ---------------------------------------------------------------------------------------------- */
typedef struct nkl_sim {
  uint32_t struct_size;
  nkl_tensor *const *inputs; /* one per input of the program */
  size_t ninputs;
  int strict;
  int in_place;       /* aliased inputs are updated in place; else they are never written */
  nkl_write_fn print; /* device_print; NULL: standard output */
  void *print_ud;
  nkl_write_fn warn; /* reports; NULL: standard error */
  void *warn_ud;
  nkl_ctx *interrupt; /* context whose nkl_interrupt stops the run, or NULL */
  /* Ranks that run p at the same time, each on its own thread, with the collectives between them; 1 to 256. inputs
     then are those of rank 0, those of rank 1 and so on, ninputs counts them all, and outputs has room for the outputs
     of all ranks in the same order. A tensor may be the input of several ranks unless it is updated in place. 0 is 1.
   */
  uint32_t ranks;
} nkl_sim;
NKL_API void nkl_sim_init(nkl_sim *s);
/* Runs p. outputs[0..nkl_program_output_count), times ranks, receive new tensors, or, in place, the retained input
   that the kernel wrote. What several ranks print or report comes at the end, by rank; nothing depends on how their
   threads run. On an error they are NULL and no input has changed. Needs no context. The environment variable
   NKI_PRECISE_FP=0 keeps narrow floats as f32. */
NKL_API NKL_NODISCARD nkl_status nkl_simulate(const nkl_program *p, const nkl_sim *s, nkl_tensor **outputs,
                                              nkl_error_buf *err);
/* Specializes and runs in one go on the tensors of the request: NKL_ARG_TENSOR, or NKL_ARG_FRAMEWORK with map_data.
   sim: inputs are ignored; NULL: defaults. outputs: room for max tensors; *n how many there are, NKL_ERR_ARG when more
   than max. In place, a framework's own buffers are written and unmap_data is told so. */
NKL_API NKL_NODISCARD nkl_status nkl_call(nkl_ctx *c, const nkl_request *request, const nkl_sim *sim,
                                          nkl_tensor **outputs, size_t max, size_t *n);

/* ---- measuring ----------------------------------------------------------------------------------------------- */
/* All times are host times of the simulator, which say nothing of a device's. */

/* Runs p warmup times unmeasured (>= 0) and then iters times (>= 1) on the same inputs, which stay as they are:
   s->in_place is NKL_ERR_ARG. us[0..iters), the caller's, receives the microseconds of the measured runs in ascending
   order; on an error its contents are unspecified. A run is what nkl_simulate does but for making the tensors of
   outputs; with ranks, that of all of them. The first run prints and warns, the others are silent. Needs no context,
   like nkl_simulate; one thread measures best alone. */
NKL_API NKL_NODISCARD nkl_status nkl_bench(const nkl_program *p, const nkl_sim *s, int64_t warmup, int64_t iters,
                                           double *us, nkl_error_buf *err);
/* The percent-th percentile (0..100) of n >= 1 ascending numbers, between two of them in proportion. */
NKL_API double nkl_percentile(const double *ascending, size_t n, double percent);

/* Where the time of one run went. Keeps its program alive; immutable, so any number of threads may read one; released
   by one of them. */
typedef struct nkl_profile nkl_profile;
typedef struct nkl_profile_options {
  uint32_t struct_size;
  int64_t warmup;     /* runs before, unmeasured; 0 unless set */
  int64_t max_events; /* of the timeline of each core; what comes later is counted but not shown; 0 unless set */
} nkl_profile_options;
NKL_API void nkl_profile_options_init(nkl_profile_options *o);
/* Runs p as nkl_bench does, warmup + 1 times. Of several ranks rank 0 is profiled: waiting for the others counts as
   time of the collective that waits. o NULL: defaults. */
NKL_API NKL_NODISCARD nkl_status nkl_profile_run(const nkl_program *p, const nkl_sim *s, const nkl_profile_options *o,
                                                 nkl_profile **out, nkl_error_buf *err);
NKL_API void nkl_profile_release(nkl_profile *f);
NKL_API double nkl_profile_us(const nkl_profile *f); /* of the run as a whole */

typedef enum nkl_profile_by {
  NKL_BY_LINE = 0,   /* an instruction of one source line, on one engine and one core */
  NKL_BY_OP = 1,     /* an instruction, whatever the line */
  NKL_BY_ENGINE = 2, /* an engine of a core */
  NKL_BY_CORE = 3    /* a physical core; waiting for the other one counts as time of the waiting instruction */
} nkl_profile_by;
/* A sum over calls: trips of loops and programs of one core. Times of cores never add up: cores run side by side.
   Strings are lent, "" where the sum is over several; line is then 0. */
typedef struct nkl_profile_row {
  const char *op; /* "nisa.dma_copy" */
  const char *engine;
  const char *file; /* relative to the script's folder */
  int32_t line, core;
  int64_t calls;
  int64_t elements, bytes; /* of what the calls wrote, or of their first operand when they write nothing */
  double us;               /* within the instruction */
} nkl_profile_row;
/* Rows come slowest first; equal times by file, line, instruction, engine, core. */
NKL_API size_t nkl_profile_row_count(const nkl_profile *f, nkl_profile_by by);
/* NKL_ERR_ARG when there is no i-th one; *out is then zero but for its strings. */
NKL_API nkl_status nkl_profile_row_at(const nkl_profile *f, nkl_profile_by by, size_t i, nkl_profile_row *out);

typedef enum nkl_profile_format {
  NKL_PROFILE_TEXT = 0, /* tables */
  NKL_PROFILE_JSON = 1, /* the same as one object */
  NKL_PROFILE_TRACE = 2 /* the timeline: JSON in Chrome's trace-event format, for Perfetto or chrome://tracing */
} nkl_profile_format;
NKL_API NKL_NODISCARD nkl_status nkl_profile_render(const nkl_profile *f, nkl_profile_format format, nkl_buf *out,
                                                    nkl_error_buf *err);

/* ---- a run on a device --------------------------------------------------------------------------------------- */
/* Nothing here compiles for a device or runs on one; this says what it would take. */
typedef struct nkl_plan_options {
  uint32_t struct_size;
  const char *dir;             /* folder of the files; NULL: the current one */
  const char *neff, *trace;    /* names of the NEFF ("file.neff" when NULL) and of a profile (NULL: none) */
  const char *compile_options; /* added to the command line as they are, or NULL */
} nkl_plan_options;
NKL_API void nkl_plan_options_init(nkl_plan_options *o);
/* Lines "run COMMAND" and "write FILE" with words as a shell takes them, and "missing WHAT" when this machine lacks
   something of it; json 1: the same as an object with the keys run, write (a list) and missing (null: nothing).
   Nothing is executed or written. o NULL: defaults. */
NKL_API NKL_NODISCARD nkl_status nkl_program_plan(const nkl_program *p, const nkl_plan_options *o, int json,
                                                  nkl_buf *out, nkl_error_buf *err);

/* ---- XLA on the CPU ------------------------------------------------------------------------------------------ */
/* A handler of XLA's typed FFI (XLA_FFI_Handler, versions 0.1 to 0.3): to be registered for the platform "cpu" and
   called by compiled programs only. The custom-call has the attribute "config", a string: a backend_config; and it may
   have "strict", a truth value as in nkl_sim. Its operands are the program's inputs, its results the program's outputs,
   dense and row-major; dtypes without a counterpart in XLA come as the type of the same bytes (tfloat32 as f32, packed
   ones as u32 and u16). An output that aliases an input may share its buffer. Configs are decoded at their first call;
   the last 64 are kept. What goes wrong is returned as XLA's error, whose text is "file:line: message [err_id]" and, on
   further lines, notes and the call chain. Needs no context; any number of threads may be inside. */
NKL_API void *nkl_xla_ffi_execute(void *call_frame);

/* ---- tables: for tools and editors --------------------------------------------------------------------------- */
typedef enum nkl_table {
  NKL_TABLE_OPS = 0,
  NKL_TABLE_ERRORS = 1,
  NKL_TABLE_DTYPES = 2,
  NKL_TABLE_TARGETS = 3,
  NKL_TABLE_LANGUAGE = 4,
  NKL_TABLE_STUB_NKI = 5, /* the stubs: Lua meta files for editors, in no JSON */
  NKL_TABLE_STUB_LANGUAGE = 6,
  NKL_TABLE_STUB_ISA = 7,
  NKL_TABLE_STUB_COLLECTIVES = 8
} nkl_table;
/* Markdown (json 0) or JSON (json 1) of a table of the program: the source of docs/ops.md, docs/language.md and
   docs/errors.md; or the text of a stub, the source of lua/meta. */
NKL_API NKL_NODISCARD nkl_status nkl_render_table(nkl_table t, int json, nkl_buf *out, nkl_error_buf *err);

#ifdef __cplusplus
}
#endif
#endif
