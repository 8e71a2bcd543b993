/* call.h -- room lang: what the nl, nisa and tensor functions share. A row of nl.def or tile.def becomes a C closure
   with two upvalues: the context and the row. lang_row_call binds the arguments to slots 1..n, checks that a kernel
   runs, locates, and enters the body. */
#ifndef NK_LANG_CALL_H
#define NK_LANG_CALL_H
#include <string.h>

#include "lang.h"

typedef struct Call Call;
typedef struct LRow {
  const char *module; /* "nl", "NkiTensor" */
  const char *name;   /* "add" */
  int (*body)(Call *call);
  int arg;       /* what tells rows with one body apart: an Alu, an Act, a flag */
  bool anywhere; /* also outside a kernel */
  BindSpec bind; /* bind.func: "nl.add" */
  const char *doc;
} LRow;
struct Call {
  lua_State *L;
  LangCtx *c;
  const LRow *row;
  Trace *t; /* NULL only for rows that work anywhere */
};
int lang_row_call(lua_State *L);                                       /* upvalues: context, row */
const LRow *lang_row_named(const LRow *rows, int n, const char *name); /* NULL when there is none */
int lang_row_enter(lua_State *L, LangCtx *c, const LRow *row);         /* the same, arguments on the stack from 1 */
int lang_row_body(lua_State *L, LangCtx *c, const LRow *row); /* the same with the slots already bound (operators) */
void lang_push_row(lua_State *L, LangCtx *c, const LRow *row);
/* The C functions behind nl, nisa and NkiTensor, so that the stack tells which of them the user called (caller.c). */
int lang_row_operator(lua_State *L); /* of tiles; upvalues: context, row */
int lang_token_call(lua_State *L);
int lang_defined_call(lua_State *L);            /* upvalue 2: a row of nl_half.def */
int lang_nisa_call(lua_State *L);               /* upvalue 2 tells the row of ops.def */
const char *lang_nisa_name(const void *callee); /* "nisa.iota", by that upvalue */
/* Puts the name of the function that the user called before a message that does not begin with it: the fault may lie in
   something that function is made of. */
void lang_name_caller(lua_State *L, LangCtx *c, Diag *d);

/* The userdata at i if its metatable is mt (an address from LangCtx). */
static inline void *lang_test(lua_State *L, int i, const void *mt) {
  void *p = lua_touserdata(L, i);
  if (!p || !lua_getmetatable(L, i)) return NULL;
  const void *have = lua_topointer(L, -1);
  lua_pop(L, 1);
  return have == mt ? p : NULL;
}
/* Our own hot userdata begin with a tag, their name's address: two API calls instead of four. */
static inline void *lang_tagged(lua_State *L, int i, const char *tag, size_t size) {
  void *p = lua_touserdata(L, i);
  const char *have;
  if (!p || lua_rawlen(L, i) != size) return NULL;
  memcpy(&have, p, sizeof have);
  return have == tag ? p : NULL;
}
extern const char LANG_DS[];
static inline LTile *lang_tile_at(lua_State *L, int i) { return lang_tagged(L, i, LANG_TILE, sizeof(LTile)); }
static inline LToken *lang_token_at(lua_State *L, int i) { return lang_tagged(L, i, LANG_TOKEN, sizeof(LToken)); }
static inline LIndex *lang_index_at(lua_State *L, int i) { return lang_tagged(L, i, LANG_INDEX, sizeof(LIndex)); }
static inline LArray *lang_array_at(lua_State *L, int i) { return lang_tagged(L, i, LANG_ARRAY, sizeof(LArray)); }
static inline LDecl *lang_decl_at(lua_State *L, int i) { return lang_tagged(L, i, LANG_DECL, sizeof(LDecl)); }
static inline LangCtx *lang_upctx(lua_State *L) { return lua_touserdata(L, lua_upvalueindex(1)); }

/* Is this chunk of our own Lua half? */
bool lang_own_source(const char *source);
void lang_locate_fast(lua_State *L, LangCtx *c, Trace *t);
void lang_locate_end(lua_State *L, LangCtx *c); /* after a body: what it ran is not kept alive */
/* The live session; raises err_nki_api_outside_of_nki_kernel naming func. Does not locate. */
Trace *lang_need_trace(lua_State *L, LangCtx *c, const char *func);
/* The tile of a userdata, if it belongs to the running program; else raises, naming tile, its kernel and its line.
   param NULL: the tensor itself, not a parameter. */
const IrTile *lang_live(lua_State *L, LangCtx *c, const LTile *t, const char *func, const char *param);
void lang_new_tile(lua_State *L, LangCtx *c, const IrTile *tile); /* lang_push_tile with the context at hand */
void lang_push_index(lua_State *L, LangCtx *c, LIndex v);         /* fills in the serial */
const LIndex *lang_live_index(lua_State *L, LangCtx *c, const LIndex *v, const char *func, const char *param);
/* One index value that equals v * scale (reads the register now). */
uint32_t lang_index_value(lua_State *L, LangCtx *c, const LIndex *v, int64_t scale);

/* nl.ds(start, size) */
typedef struct LDs {
  const char *tag; /* LANG_DS */
  bool dynamic;
  LIndex at; /* when dynamic */
  int64_t start, size;
} LDs;
static inline LDs *lang_ds_at(lua_State *L, int i) { return lang_tagged(L, i, LANG_DS, sizeof(LDs)); }

/* cores.c: an axis of a grid that is spread over physical cores: nl.nc(n), nl.spmd_dim(...) */
typedef struct LCores {
  const char *tag; /* LANG_CORES */
  int64_t size;    /* programs of the axis */
  IrCores cores;
} LCores;
extern const char LANG_CORES[];
int lang_push_cores(lua_State *L, int64_t size, IrCores cores);
static inline LCores *lang_cores_at(lua_State *L, int i) { return lang_tagged(L, i, LANG_CORES, sizeof(LCores)); }

/* The string at i as a message quotes it (text_clip); returns clip. */
const char *lang_clip(lua_State *L, int i, char clip[TEXT_CLIP + 4]);
/* Does the string at i end before its length? */
static inline bool lang_has_nul(lua_State *L, int i) {
  const char *s = lua_tostring(L, i);
  return strlen(s) != lua_rawlen(L, i);
}
/* The string at i as a name. One with a NUL byte, which is none, comes as lang_clip spells it. */
const char *lang_name(lua_State *L, int i, char clip[TEXT_CLIP + 4]);
/* The Lua value at i in words, for messages; returns buf. */
const char *lang_describe(lua_State *L, int i, char *buf, size_t size);
enum { DESCRIBE = 256 };
/* Raises "func: parameter 'param' must be <want>, got <value at i>". */
int lang_kind_error(lua_State *L, int i, const char *func, const char *param, const char *want);
/* Integer, or a float with an integral value; raises otherwise. */
int64_t lang_check_int(lua_State *L, int i, const char *func, const char *param);
bool lang_to_int(lua_State *L, int i, int64_t *out);
/* A number; where the dtype is bool_ also true, which is 1, and false. */
static inline bool lang_to_number(lua_State *L, int i, DType dtype, double *out) {
  int type = lua_type(L, i);
  if (type != LUA_TNUMBER && (type != LUA_TBOOLEAN || dtype != DT_bool_)) return false;
  *out = type == LUA_TNUMBER ? lua_tonumber(L, i) : (double)lua_toboolean(L, i);
  return true;
}
void lang_at_most(lua_State *L, const char *func, int first, int most); /* arguments from first on; nil is none */
/* Index of a parameter by name, -1 when there is none ("stop" also finds "end"). */
int lang_param(const BindSpec *spec, const char *name);
void lang_say_unknown(lua_State *L, const BindSpec *spec, const char *name); /* into the context's Diag */
/* Is the value at i the last argument's keyword table? takes_list: the parameter at its position takes a plain list. */
bool lang_is_keywords(lua_State *L, int i, bool takes_list);

/* groups.c: a list of lists of ranks, plain or an ncc.ReplicaGroup; ints may be NULL, to learn the room they need. */
typedef struct GroupList {
  uint32_t n;  /* lists */
  size_t room; /* integers: a length and ranks for each list */
} GroupList;
GroupList groups_read(lua_State *L, int i, const char *func, const char *param, int64_t *ints);
void groups_open(lua_State *L, LangCtx *c); /* pushes ncc.ReplicaGroup */

/* token.c */
void lang_push_space(lua_State *L, LangCtx *c, Space s);
void lang_add_enum(lua_State *L, LangCtx *c, EnumType t, const char *module); /* strict table of tokens */
void lang_push_op(lua_State *L, LangCtx *c, const char *name,
                  int call); /* nl operator or activation; call: row of nl.def or -1 */
void lang_push_enum(lua_State *L, LangCtx *c, EnumType t, int value, const char *module);
/* Makes the table at -1 the contents of a strict, read-only proxy named so ("nl"), and leaves the proxy instead. */
void lang_strict(lua_State *L, const char *name);
void lang_push_names(lua_State *L, const char *const *names, uint32_t n); /* a list of strings */
/* half.c: the value that an embedded Lua file returns ("nki.slice"), loaded once per state. args: values on top passed
 * to it the first time. */
void lang_half(lua_State *L, LangCtx *c, const char *name);
/* Gives the module's table at -1 the class values of "language" or "isa". */
void lang_half_classes(lua_State *L, LangCtx *c, const char *module);
/* Runs an embedded Lua file that adds to the module table at index `module` and is given what lies above that, too. */
void lang_half_add(lua_State *L, LangCtx *c, const char *name, int module);
/* fail(id, message), upvalue 1 the context: raises err_<id> at the innermost line outside nkilua's own files. */
int lang_fail_outside(lua_State *L);

/* slice.c: the key at index key -> one slice per dim of the tile; false when the key is the classic layer's. */
bool lang_slices(lua_State *L, LangCtx *c, const IrTile *tile, int key, IrSlice out[IR_MAX_RANK]);
/* Raises what the trace or the view algebra reported in t->d. */
int lang_trace_error(lua_State *L, Trace *t);

#define LANG_HERE0(L, id) (DIAG0(&lang_ctx(L)->diag, id), lang_raise_here((L), &lang_ctx(L)->diag))

static inline ViewCtx lang_view(Trace *t) { return (ViewCtx){t->m, t->f, t->d}; }
#endif
