/* nl.h -- room lang: the functions of nki.language in C. A row of nl.def names its body; bodies build instructions
 * through these. */
#ifndef NK_LANG_NL_H
#define NK_LANG_NL_H
#include "call.h"

extern const LRow nl_rows[];
extern const int nl_nrows;
const LRow *nl_row(const char *name);
extern const LRow nl_half_rows[]; /* of functions in Lua; arg: mask of the parameters that are tiles */
extern const int nl_half_nrows;
const LRow *nl_half_row(const char *name);

#define NL(name, body, arg, where, lists, params, doc) int body(Call *call);
#include "nl.def"
/* Pushes the function of a row; strict: without its classic form. */
void nisa_push_callee(lua_State *L, LangCtx *c, const OpInfo *op, bool strict);
int nisa_register_alloc(Call *call);
int nisa_get_nc_version(Call *call);

/* Instruction arguments: defaults of the row first, then fields by name:
     Args_tensor_copy a;  nl_defaults(OP_tensor_copy, &a);  a.dst = nl_t(dst); ... nl_emit(call, OP_tensor_copy, &a); */
void nl_defaults(Op op, void *args);
IrIns *nl_emit(const Call *call, Op op, const void *args); /* raises when refused */
static inline IrVal nl_t(const IrTile *t) { return (IrVal){.kind = V_TILE, .u.tile = t}; }
static inline IrVal nl_n(double x) { return (IrVal){.kind = V_NUM, .u.num = x}; }
static inline IrVal nl_i(int64_t i) { return (IrVal){.kind = V_INT, .u.i = i}; }

/* A tile on chip or a number. */
typedef struct Operand {
  const IrTile *tile; /* NULL: a number */
  DType dtype;
  Space space;
  double num;
  bool integer; /* the number has an integer subtype */
} Operand;
Operand nl_tile_operand(const Call *call, const IrTile *tile);
Operand nl_operand(const Call *call, int slot, bool number_ok); /* raises for HBM tensors and other values */
const IrTile *nl_any_tile(const Call *call, int slot);          /* in any memory */
DType nl_dtype(const Call *call, int slot, DType dflt);
Space nl_space(const Call *call, int slot, Space dflt);
static inline Space nl_space_of(const Call *call, const IrTile *t) { return call->t->f->bufs[t->buf]->space; }
static inline DType nl_dtype_of(const Call *call, const IrTile *t) { return call->t->f->bufs[t->buf]->dtype; }
static inline const char *nl_param(const Call *call, int slot) { return call->row->bind.names[slot - 1]; }

/* A fresh tile, named by the session. */
const IrTile *nl_fresh(const Call *call, Space space, DType dtype, int rank, const int64_t *shape);
const IrTile *nl_fresh_like(const Call *call, DType dtype, const IrTile *like); /* in SBUF */
void nl_copy_to(const Call *call, const IrTile *dst, const IrTile *src);        /* tensor_copy */
const IrTile *nl_to_sbuf(const Call *call, const IrTile *t);                    /* itself, or a copy when in PSUM */
const IrTile *nl_copied(const Call *call, const IrTile *t);                     /* in SBUF */
const IrTile *nl_cast_to(const Call *call, const IrTile *t, DType dtype);       /* itself, or a converted SBUF copy */
const IrTile *nl_broadcast(const Call *call, const IrTile *t, int rank, const int64_t *shape); /* free axes of size 1 */
/* The first of the reduced axes of t that the integer or list at `at` names: a run that ends at the last axis and does
   not include axis 0. Raises naming func. */
int nl_first_axis(lua_State *L, int at, const char *func, const IrTile *t);
/* Raises unless the operands broadcast; their common shape. */
int nl_common_shape(const Call *call, const Operand *x, const Operand *y, int64_t shape[IR_MAX_RANK]);
const IrTile *nl_elementwise(const Call *call, Alu op, const Operand *x, const Operand *y, DType out);
const IrTile *nl_scaled(const Call *call, const IrTile *t, Alu op, double number, DType out); /* t op number */
const IrTile *nl_activated(const Call *call, const IrTile *t, Act op, DType out);
/* Shapes equal when axes of size 1 are left out. */
bool nl_same_shape(const IrTile *a, const IrTile *b);
/* t[key] = value at index i: a tile or a number. */
void nl_assign(lua_State *L, LangCtx *c, const IrTile *dst, int i);
static inline int nl_result(const Call *call, const IrTile *t) {
  lua_State *L = call->L;
  lang_new_tile(L, call->c, t);
  return 1;
}
void nl_push_tile_size(lua_State *L, LangCtx *c);
#endif
