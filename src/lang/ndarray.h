/* ndarray.h -- room lang: private to the files of host arrays (array_core.c, ndarray*.c).
   An array owns its bytes, in row-major order; no two arrays share bytes. Arithmetic is done in f64 on exact values and
   rounded once, so float32 results of + - * / are NumPy's; a result that an integer dtype cannot hold is an error. */
#ifndef NK_NDARRAY_H
#define NK_NDARRAY_H
#include "call.h"
#include "tensorfile.h"

enum { ARRAY_BLOCK = 512, ARRAY_TEXT = 200 };

void array_metamethods(lua_State *L); /* for the metatable on top */
void array_drop(lua_State *L, LArray *a);
/* Takes over t->data, tensor_bytes(t) + 1 bytes of the state's allocator; t keeps it when this raises. */
void array_push_tensor(lua_State *L, SimTensor *t);

/* The array at i, not freed; numeric: nor packed. They raise naming func and param. */
LArray *array_check(lua_State *L, int i, const char *func, const char *param);
LArray *array_numeric(lua_State *L, int i, const char *func, const char *param);
bool array_is_packed(DType d);

/* Elements at .. at+n as exact numbers; n at most ARRAY_BLOCK. */
void array_read(const LArray *a, int64_t at, int64_t n, double *out);
/* The other way: rounds to nearest even; raises when an integer does not fit. */
typedef struct ArrayOut {
  lua_State *L;
  const char *func;
  LArray *a;
} ArrayOut;
void array_write(const ArrayOut *out, int64_t at, int64_t n, const double *in);
double array_at(const LArray *a, int64_t i);
void array_push_number(lua_State *L, DType dtype, double v); /* integer, float or boolean */

/* "{2, 3}"; "[0][2]" */
const char *array_shape_text(int rank, const int64_t *shape, char buf[ARRAY_TEXT]);
const char *array_path_text(int rank, const int64_t *index, char buf[ARRAY_TEXT]);
void array_unravel(const LArray *a, int64_t at, int64_t index[IR_MAX_RANK]);
/* An axis, negative counts from the end; raises. */
int array_axis(lua_State *L, int i, const LArray *a, const char *func);
/* Shape argument with sizes of at least 1. */
int array_shape_arg(lua_State *L, int i, const char *func, int64_t shape[IR_MAX_RANK]);
DType array_dtype_arg(lua_State *L, int i, const char *func, DType dflt);
LArray *array_astype(lua_State *L, const LArray *a, DType dtype); /* pushes a new one */
void array_push_nested(lua_State *L, int i, const char *func,
                       DType dtype); /* pushes the array of a nested table or number at i */

/* What the files add to the methods and to the metatable of arrays. */
extern const luaL_Reg array_nested_methods[], array_math_methods[], array_reduce_methods[], array_shape_methods[],
    array_bytes_methods[];
extern const luaL_Reg array_math_operators[];
int array_load(lua_State *L);
int array_save(lua_State *L);
int array_from_bytes(lua_State *L);
int array_compare(lua_State *L);
#endif
