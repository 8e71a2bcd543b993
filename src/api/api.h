/* api.h -- room api: private; the objects behind nkilua.h, and how a Diag becomes an nkl_error. */
#ifndef NK_API_PRIVATE_H
#define NK_API_PRIVATE_H
#include <stdatomic.h>
#include <string.h>

#include "fpenv.h"
#include "host.h"
#include "nkilua.h"
#include "tensorfile.h"

struct nkl_ctx {
  Alloc alloc;
  Host *host;              /* NULL: opening failed */
  Diag diag;               /* of the last call */
  nkl_error error;         /* the same, as lent to the caller */
  nkl_framework framework; /* struct_size 0: none */
  Text target, cache_dir;
  nkl_options options; /* write and warn of the host */
  int inside;          /* callbacks of the host that are running: until they return, c is busy */
};
struct nkl_kernel {
  nkl_ctx *ctx;
  int ref, count;
};
struct nkl_tensor {
  atomic_int count;
  Alloc alloc;
  SimTensor t; /* data: tensor_bytes + 1 bytes of alloc, or borrowed */
  bool borrowed;
  void (*release)(void *ud, void *data);
  void *ud;
};
/* One named argument per word; everything is in the arena but the tensors. */
struct nkl_bound {
  Arena arena;
  nkl_arg *args;
  size_t n;
};

/* A program is an artifact under another name. */
static inline const Artifact *api_artifact(const nkl_program *p) { return (const Artifact *)(const void *)p; }
static inline nkl_program *api_program(const Artifact *a) { return (nkl_program *)(uintptr_t)a; }

/* What a function may not be given as NULL: the parameters by name, as "c, path, out", and their values. */
typedef struct ApiNeed {
  const char *func, *names;
  const void *const *p;
  size_t n;
} ApiNeed;
#define API_NEED(...)                                                      \
  (&(const ApiNeed){__func__, #__VA_ARGS__, (const void *[]){__VA_ARGS__}, \
                    sizeof((const void *[]){__VA_ARGS__}) / sizeof(void *)})
#define API_RETURN_UNLESS_OK(status)       \
  do {                                     \
    nkl_status status_ = (status);         \
    if (status_ != NKL_OK) return status_; \
  } while (0)
/* Every function of a context begins with one of these, which returns from it when a parameter is NULL. The context is
 * the first; API_ENTER is for functions that need its Lua state: they also end when that never opened. */
#define API_BEGIN(...) API_RETURN_UNLESS_OK(api_begin(API_NEED(__VA_ARGS__)))
#define API_ENTER(...) API_RETURN_UNLESS_OK(api_enter(API_NEED(__VA_ARGS__)))
nkl_status api_begin(const ApiNeed *need);
nkl_status api_enter(const ApiNeed *need);
/* The same for functions without a context; err may be NULL. */
#define API_CHECK(err, ...) API_RETURN_UNLESS_OK(api_check((err), API_NEED(__VA_ARGS__)))
nkl_status api_check(nkl_error_buf *err, const ApiNeed *need);
/* Neither a list of n things nor one of them is NULL. */
bool api_list(const char *func, const char *name, const void *list, size_t n, Diag *d);
#define API_LIST(func, list, n, d) api_list((func), #list, (list), (n), (d))
/* *p = the rest, unless p is NULL: before anything can fail, and in functions that cannot. */
#define API_SET(p, ...)          \
  do {                           \
    if (p) *(p) = (__VA_ARGS__); \
  } while (0)
/* A text of no bytes may be NULL. */
#define API_TEXT(text, len)             \
  do {                                  \
    if (!(text) && !(len)) (text) = ""; \
  } while (0)
/* Around each callback of a host during which its context must not be entered. */
static inline void api_leave_to_host(nkl_ctx *c) { c->inside++; }
static inline void api_back_from_host(nkl_ctx *c) { c->inside--; }
/* Ends a failed one: what c->diag holds becomes the last error. */
nkl_status api_fail(nkl_ctx *c);
#define API_FAIL(c, id, ...) (DIAG(&(c)->diag, id, __VA_ARGS__), api_fail(c))
#define API_NOMEM(c) (DIAG0(&(c)->diag, nomem), api_fail(c))
/* The same for functions without a context; err may be NULL. Frees nothing of d. */
nkl_status api_fail_buf(nkl_error_buf *err, Diag *d);
/* Copies a text into a buffer of the caller's and frees it; false when out of memory. */
bool api_take(Text *t, nkl_buf *out);

/* Fills a local struct from a caller's that may be of another version, or NULL. False, with a message for func: it was
 * never initialised, or a newer version's field that is not known here is set. */
typedef struct ApiStruct {
  const char *func, *type;
  void *to;
  const void *from;
  size_t size;
} ApiStruct;
bool api_struct(const ApiStruct *s, Diag *d);
#define API_STRUCT(func, type, to, from, d) \
  api_struct(&(const ApiStruct){(func), #type, (to), (1 ? (from) : (const type *)NULL), sizeof(type)}, (d))

/* A tensor of alloc that takes over t->data. NULL when out of memory; t->data then is freed. */
nkl_tensor *api_tensor(Alloc alloc, SimTensor *t);
bool api_dtype(nkl_dtype d); /* is it one? */
/* Description -> shape and dtype; why is "" or what is wrong. */
bool api_tensor_shape(const nkl_tensor_desc *d, SimTensor *out, const char **why);
/* May its data be used where they are? */
bool api_tensor_lent(const nkl_tensor_desc *d, const SimTensor *t, const char **why);

typedef struct ApiRun {
  const Artifact *artifact;
  SimTensor *operands;        /* lent */
  nkl_tensor *const *operand; /* the tensors they are, for in_place; one that is NULL is returned as a copy */
  const nkl_sim *sim;
  SimProfile *profile; /* NULL: nothing is measured */
} ApiRun;
bool api_run(const ApiRun *run, nkl_tensor **outputs, Diag *d);
/* The operands of a caller's run, of all ranks, in a new array; false: d is filled. inputs stay the caller's. */
bool api_operands(const Artifact *a, const nkl_sim *s, const char *who, SimTensor **out, Diag *d);
void api_operands_free(const Artifact *a, const nkl_sim *s, SimTensor *operands);
/* Shapes and memory of the outputs of all ranks; free each with tensor_free, also when false. out is zeroed by the
   caller. */
bool api_new_outputs(const ApiRun *run, SimTensor *out, Diag *d);
bool api_check_operands(const ApiRun *run, Diag *d);
/* The bare run, as sim_run says: the data of out is the caller's. */
bool api_simulate(const ApiRun *run, SimTensor *out, Diag *d);

/* xla_programs.c: the program of a backend_config, decoded at its first use and kept in a bounded table that all
   threads share. The caller releases it. */
nkl_program *api_cached_program(const char *config, size_t len, Diag *d);

/* fill.c: elements from the VALUE grammar. */
typedef struct ApiFill {
  const HostValue *value;
  const char *name;
  uint64_t seed;
} ApiFill;
bool api_fill(const ApiFill *f, SimTensor *t, Diag *d);
#endif
