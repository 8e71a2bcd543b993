/* lang.h -- shared by the files of lang/, the only room that sees lua.h. Userdata layouts, the one argument binder, errors.
   Rules: a userdata is created closed (all zero), then filled. Errors leave by lang_raise only. No C resource is held across a call that can
   raise unless a userdata or an arena that somebody owns holds it. */
#ifndef NK_LANG_H
#define NK_LANG_H
#include <lauxlib.h>
#include <lua.h>

#include "fw.h"
#include "sim.h"
#include "trace.h"

/* ---- context: one per lua_State (registry, lightuserdata key); created by lang_open ---------------------------------- */
typedef struct LangCtx {
  Alloc alloc;
  Trace *trace;            /* innermost open session, NULL outside a kernel; pushed and popped by drive.c */
  struct Drive *drive;     /* innermost driver frame (drive.c) */
  Diag diag;               /* scratch, cleared before each use */
  atomic_int interrupt;
  const char *target;      /* -t; NULL: resolve per specialization */
  bool strict;
  void (*write)(void *ud, const char *s, size_t n); /* print, device_print */
  void (*warn)(void *ud, const char *s, size_t n);  /* reports and warnings: standard error by default */
  void *io_ud;
} LangCtx;
LangCtx *lang_ctx(lua_State *L);
Trace *lang_trace(lua_State *L); /* raises err_nki_api_outside_of_nki_kernel naming the calling function when there is none; sets loc, iter */

/* ---- userdata -------------------------------------------------------------------------------------------------------- */
typedef struct LTile {     /* a view of a buffer inside a trace (the public NkiTensor / DeclTensor of a kernel body) */
  const IrTile *tile;
  Trace *trace;            /* valid only while trace_serial is the live session's serial */
  uint64_t trace_serial;
  DType dtype;
  Space space;
} LTile;                   /* user value 1: the session's name table (so that an error can name tile, kernel and line after the trace) */
typedef struct LIndex {    /* a register or an affine index value over registers */
  uint32_t reg;            /* buffer id when it is a plain register, else 0 */
  uint32_t idx;            /* index value when reg == 0 */
  int64_t constant;
  bool frozen;             /* loop variable */
  uint64_t trace_serial;
} LIndex;
typedef enum TokenKind { TOK_OP, TOK_SPACE, TOK_ENUM } TokenKind;
typedef struct LToken {    /* nl.add, nl.exp, nl.sbuf, nisa.engine.vector ...; immutable, one per value per state */
  TokenKind kind;
  const char *name;        /* "nl.add" */
  Alu alu;                 /* TOK_OP: the operator, ALU_none when it is only an activation */
  Act act;
  Space space;
  EnumType etype;
  int value;
  int call;                /* TOK_OP: row of nl.def to call it as a function, -1 when it is only a token */
} LToken;
typedef struct LShape { int rank; int64_t dim[IR_MAX_RANK]; } LShape; /* immutable shape (interned proxies) */
/* A host array; its bytes are its own, or borrowed from the C host. */
typedef struct LArray {
  DType dtype;
  int rank;
  int64_t shape[IR_MAX_RANK];
  int64_t count;
  void *data;
  size_t nbytes;
  void (*release)(void *ud, void *data);
  void *release_ud;
} LArray;
typedef struct LDecl {     /* nki.decl: shape and dtype without data */
  DType dtype;
  int rank;
  int64_t shape[IR_MAX_RANK];
} LDecl;

extern const char LANG_TILE[], LANG_INDEX[], LANG_TOKEN[], LANG_ARRAY[], LANG_DECL[], LANG_KERNEL[], LANG_ARTIFACT[];
/* NULL when the value is something else. Tile and token tests compare metatable pointers kept in LangCtx-owned upvalues or registry. */
LTile *lang_to_tile(lua_State *L, int i);
LIndex *lang_to_index(lua_State *L, int i);
LToken *lang_to_token(lua_State *L, int i);
LArray *lang_to_array(lua_State *L, int i);
LDecl *lang_to_decl(lua_State *L, int i);
/* Pushes. */
void lang_push_tile(lua_State *L, const IrTile *tile);       /* of the live session */
void lang_push_shape(lua_State *L, int rank, const int64_t *dim);
LArray *lang_push_array(lua_State *L, DType dtype, int rank, const int64_t *shape); /* zeroed bytes */
/* Shape, list, or Shape proxy at i -> dims; raises naming what. */
int lang_check_shape(lua_State *L, int i, const char *func, const char *what, int64_t dim[IR_MAX_RANK]);
DType lang_check_dtype(lua_State *L, int i, const char *func, const char *what);

/* ---- errors (raise.c) -------------------------------------------------------------------------------------------------- */
/* Turns the Diag (ctx->diag usually) into one Lua error object and raises it; clears the Diag. Never returns. */
int lang_raise(lua_State *L, Diag *d);
/* Fills ctx->diag and raises. */
#define LANG_FAIL(L, id, ...) (DIAG(&lang_ctx(L)->diag, id, __VA_ARGS__), lang_raise((L), &lang_ctx(L)->diag))
/* The error value at i -> Diag (our object keeps id, file, line; any other value becomes ERR_lua with its text). */
void lang_to_diag(lua_State *L, int i, Diag *d);
/* Where the running Lua code is: fills t->loc and t->iter (innermost user frame, call chain up to the kernel function). */
void lang_locate(lua_State *L, Trace *t);

/* ---- the one argument binder (bind.c) ----------------------------------------------------------------------------------- */
/* Binds the Lua arguments (positional in order and/or one last keyword table) of a row to stack slots: after the call slot base+1+i holds
   parameter i or nil. names: parameter names. Raises unknown keyword (with the nearest), surplus, given twice, missing required. */
typedef struct BindSpec { const char *func; const char *const *names; const bool *required; int n; uint32_t list_mask; /* params that take a plain list */ } BindSpec;
void lang_bind(lua_State *L, const BindSpec *spec);

/* ---- modules: one luaopen per public module; drive.c pushes kernels ------------------------------------------------------ */
int lang_open_nl(lua_State *L);
int lang_open_nisa(lua_State *L);
int lang_open_kernel(lua_State *L);  /* the C half of `nki` */
int lang_open_ndarray(lua_State *L);
bool lang_open(lua_State *L, Alloc alloc, Diag *d); /* registers everything in package.preload; loads nothing else */
#endif
