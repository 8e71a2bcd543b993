/* lang.h -- room lang: shared by the files of lang/, the only room that sees lua.h. Userdata layouts, the one argument
   binder, errors. Rules: a userdata is created closed (all zero), then filled. Errors leave by lang_raise only. No C
   resource is held across a call that can raise unless a userdata or an arena that somebody owns holds it. */
#ifndef NK_LANG_H
#define NK_LANG_H
#include <lauxlib.h>
#include <lua.h>

#include "fw.h"
#include "sim.h"
#include "trace.h"

/* ---- context: one per lua_State (registry, lightuserdata key); created by lang_open ------------------------------ */
/* One running kernel body (drive.c). In thread L the frames above lang_drive_body's belong to the kernel. */
typedef struct Drive {
  struct Drive *up; /* the body it is called from, NULL at the outside */
  Trace *trace;     /* its session */
  lua_State *L;     /* the thread that runs the body */
  const char *name; /* func_name */
  const char *dir;  /* folder of the script that defines the kernel: "" or ends in '/' */
  const void *kept; /* what tells the error on its way up whose traceback is kept */
} Drive;
/* The C function whose callee is the kernel function: a frame whose function is this one is where a call chain ends. */
int lang_drive_body(lua_State *L);
/* The name of a file in messages, IR and key: source ("@a/b/x.lua") relative to dir, never absolute; other sources as
 * Lua spells them. In source itself or in buf, where it is cut at size. */
enum { LANG_PATH = 4096 }; /* room for every name of a file */
const char *lang_relative(const char *dir, const char *source, char *buf, size_t size);
/* The folder of source, "" or ending in '/'. */
const char *lang_dir_of(const char *source, char *buf, size_t size);

typedef struct LangCtx {
  Alloc alloc;
  Trace *trace; /* innermost open session, NULL outside a kernel; pushed and popped by drive.c */
  Drive *drive; /* innermost driver frame (drive.c) */
  Diag diag;    /* scratch, cleared before each use */
  atomic_int interrupt;
  const char *target; /* -t; NULL: resolve per specialization */
  bool strict;
  const char *cache_dir; /* folder of the persistent cache; NULL: NKILUA_CACHE_DIR, "": none */
  bool explain_cache;    /* every specialization says what the cache made of it */
  FwStore *store;        /* kernel_cache.c */
  bool store_known;
  SimProfile *profile;                              /* of the runs that happen, or NULL; set by measure.c */
  void (*write)(void *ud, const char *s, size_t n); /* print, device_print */
  void (*warn)(void *ud, const char *s, size_t n);  /* reports and warnings: standard error by default */
  void *io_ud;
  Text traceback; /* of the last failure of a kernel body */
  const void *mt_kernel, *mt_artifact, *mt_tuple, *mt_error;
  int artifacts, tile_mt, session_ref; /* references into the registry (artifact.c, tile.c) */
  struct Capture *capture;             /* scratch of capture.c */
  const void *mt_token, *mt_shape;     /* metatables, kept by the registry; NULL until made */
  struct LSession *session;            /* what the tiles of the running program refer to (tile.c) */
  struct Where *where;                 /* cache of lang_locate (where.c) */
  const struct LRow *row;              /* entered last; tells which function a token's call is (caller.c) */
  const Artifact *held; /* between making it and pushing its userdata: an error in between would lose it */
  const char *outside;  /* what the running body read that no key holds (a file): its artifact is not stored */
  bool partial;         /* some tile of a classic kernel is written in a box only (classic.h) */
  size_t extern_bytes, extern_limit; /* extern.c */
  bool host_known;                   /* what the machine itself says the target is; read when first needed */
  bool host_fallback;
  Target host_target;
} LangCtx;
LangCtx *lang_ctx(lua_State *L);

/* ---- userdata ---------------------------------------------------------------------------------------------------- */
/* User value 1: the session's name table, so that an error can name tile, kernel and line after the trace. */
typedef struct LTile { /* a view of a buffer inside a trace (the public NkiTensor / DeclTensor of a kernel body) */
  const char *tag;     /* LANG_TILE: the first word of the hot userdata tells what they are (call.h) */
  const IrTile *tile;
  Trace *trace; /* valid only while trace_serial is the live session's serial */
  uint64_t trace_serial;
  DType dtype;
  Space space;
  uint32_t buf; /* of tile, readable after the trace */
} LTile;
typedef struct LIndex {   /* a register or an affine index value over registers */
  const char *tag;        /* LANG_INDEX */
  uint32_t reg;           /* buffer id of a plain register, when idx == 0 */
  uint32_t idx;           /* index value, 0 for a plain register */
  int64_t coef, constant; /* idx * coef + constant; 1 and 0 for a plain register */
  uint64_t trace_serial;
} LIndex;
typedef enum TokenKind { TOK_OP, TOK_SPACE, TOK_ENUM } TokenKind;
typedef struct LToken { /* nl.add, nl.exp, nl.sbuf, nisa.engine.vector ...; immutable, one per value per state */
  const char *tag;      /* LANG_TOKEN */
  TokenKind kind;
  const char *name; /* "nl.add" */
  Alu alu;          /* TOK_OP: the operator, ALU_none when it is only an activation */
  Act act;
  Space space;
  EnumType etype;
  int value;
  int call; /* TOK_OP: row of nl.def to call it as a function, -1 when it is only a token */
} LToken;
typedef struct LShape {
  int rank;
  int64_t dim[IR_MAX_RANK];
} LShape; /* immutable shape (interned proxies) */
/* A host array; its bytes are its own, or borrowed from the C host. data is NULL once it has been freed. */
typedef struct LArray {
  const char *tag; /* LANG_ARRAY */
  DType dtype;
  int rank;
  int64_t shape[IR_MAX_RANK];
  int64_t count;
  void *data;
  size_t nbytes;
  void (*release)(void *ud, void *data); /* of borrowed bytes */
  void *release_ud;
  void *block; /* own bytes: what the allocator gave, of block_size bytes */
  size_t block_size;
} LArray;
typedef struct LDecl { /* nki.decl: shape and dtype without data */
  const char *tag;     /* LANG_DECL */
  DType dtype;
  int rank;
  int64_t shape[IR_MAX_RANK];
} LDecl;

extern const char LANG_TILE[], LANG_INDEX[], LANG_TOKEN[], LANG_ARRAY[], LANG_DECL[], LANG_KERNEL[], LANG_ARTIFACT[],
    LANG_ERROR[];
/* The field `key` of the table on top of the stack; NULL: none. */
void lang_set_text(lua_State *L, const char *key, const char *text);
/* For the metatable on top of the stack, of values that no script may change: __name, which messages say, and
   __metatable false, which is all that getmetatable gives. */
void lang_name_metatable(lua_State *L, const char *name);
/* NULL when the value is something else. */
LTile *lang_to_tile(lua_State *L, int i);
LToken *lang_to_token(lua_State *L, int i);
LArray *lang_to_array(lua_State *L, int i);
LDecl *lang_to_decl(lua_State *L, int i);
void lang_push_decl(lua_State *L, DType dtype, int rank, const int64_t *shape);
/* Pushes. */
void lang_push_tile(lua_State *L, const IrTile *tile); /* of the live session */
/* drive.c: after each program and after a failed one, while the module still lives: keeps the names and lines of its
   tiles for later messages. Never raises. */
void lang_session_end(LangCtx *c);
/* A kernel that is traced inside another gives the tiles of that one their session back. */
void lang_session_push(lua_State *L, const LangCtx *c);
void lang_open_tiles(lua_State *L, LangCtx *c);
void lang_session_set(lua_State *L, LangCtx *c, int i);
void lang_push_shape(lua_State *L, int rank, const int64_t *dim);
LArray *lang_push_array(lua_State *L, DType dtype, int rank, const int64_t *shape); /* zeroed bytes */
/* Its bytes are whatever was there: for a run, which gives all of them a value or fails. */
LArray *lang_push_output(lua_State *L, DType dtype, int rank, const int64_t *shape);
/* A userdata that was just pushed holds, or no longer holds, so many bytes outside Lua's heap. Taking may collect. */
void lang_extern_take(lua_State *L, LangCtx *c, size_t bytes);
void lang_extern_give(LangCtx *c, size_t bytes);
bool lang_is_list(lua_State *L, int i);       /* has the table at i no keys but 1..n? */
size_t lang_list_length(lua_State *L, int i); /* n; 0: what is at i is no such table, or empty */
bool lang_is_sequence(lua_State *L, int i);   /* such a table, or one that answers to # and [i]: nki.tuple, a shape */
/* Shape, list, or Shape proxy at i -> dims; raises naming what. */
int lang_check_shape(lua_State *L, int i, const char *func, const char *what, int64_t dim[IR_MAX_RANK]);
DType lang_check_dtype(lua_State *L, int i, const char *func, const char *what);

/* ---- artifacts and kernels (artifact.c, kernel.c): also what the room api needs ---------------------------------- */
/* Always the same userdata for one artifact while a script holds it. */
void lang_push_artifact(lua_State *L, const Artifact *a);
const Artifact *lang_to_artifact(lua_State *L, int i); /* NULL when it is none; lent */
bool lang_is_kernel(lua_State *L, int i);
int lang_kernel_param_count(lua_State *L, int i);
const char *lang_kernel_param(lua_State *L, int i, int param); /* lent */
const char *lang_kernel_mode(lua_State *L, int i);
/* nki.tuple{...} of the n values on top of the stack, which it replaces. */
void lang_push_tuple(lua_State *L, int n);

/* ---- errors (raise.c) -------------------------------------------------------------------------------------------- */
/* Turns the Diag (ctx->diag usually) into one Lua error object and raises it; clears the Diag. Never returns. */
int lang_raise(lua_State *L, Diag *d);
int lang_no_memory(lua_State *L);            /* raises err_nomem */
void lang_push_error(lua_State *L, Diag *d); /* the object that it raises */
/* Fills ctx->diag and raises. */
#define LANG_FAIL(L, id, ...) (DIAG(&lang_ctx(L)->diag, id, __VA_ARGS__), lang_raise((L), &lang_ctx(L)->diag))
bool lang_is_error(lua_State *L, int i); /* one of our error objects */
/* The error value at i -> Diag (our object keeps id, file, line; any other value becomes ERR_lua with its text). */
void lang_to_diag(lua_State *L, int i, Diag *d);
/* lang_raise for a fault of the running call: the Diag also gets the line, call chain and iterations. LANG_HERE fills
   ctx->diag and raises. */
int lang_raise_here(lua_State *L, Diag *d);
#define LANG_HERE(L, id, ...) (DIAG(&lang_ctx(L)->diag, id, __VA_ARGS__), lang_raise_here((L), &lang_ctx(L)->diag))

/* ---- the one argument binder (bind.c) ---------------------------------------------------------------------------- */
/* Binds the Lua arguments (positional in order and/or one last keyword table) of a row to stack slots: after the call
   slot base+1+i holds parameter i or nil. names: parameter names. Raises unknown keyword (with the nearest), surplus,
   given twice, missing required. */
typedef struct BindSpec {
  const char *func;
  const char *const *names;
  const bool *required;
  int n;
  uint32_t list_mask; /* params that take a plain list */
} BindSpec;
void lang_bind(lua_State *L, const BindSpec *spec);

/* ---- modules: one luaopen per public module; drive.c pushes kernels ---------------------------------------------- */
int lang_open_nl(lua_State *L);
int lang_open_nisa(lua_State *L);
int lang_open_collectives(lua_State *L);
int lang_open_kernel(lua_State *L); /* the C half of `nki` */
int lang_open_ndarray(lua_State *L);
bool lang_open(lua_State *L, Alloc alloc, Diag *d); /* registers everything in package.preload; loads nothing else */
#endif
