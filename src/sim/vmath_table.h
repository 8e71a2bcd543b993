/* vmath_table.h -- the table of one instruction set, made of the kernels compiled into the including file. */
#include "convert_rows.h"
#include "gemm_rows.h"
#include "vmath_fold.h"
#include "vmath_rows.h"

#define CVT_EACH(X)                                                                                                   \
  X(bool_)                                                                                                            \
  X(uint8) X(int8) X(uint16) X(int16) X(uint32) X(int32) X(float32) X(bfloat16) X(float16) X(tfloat32) X(float8_e4m3) \
      X(float8_e5m2) X(float8_e4m3fn) X(float8_e8m0fnu)
#define CVT_LOAD_SLOT(id) [DT_##id] = load_##id,
#define CVT_STORE_SLOT(id) [DT_##id] = store_##id,

const VmIsa VM_TABLE = {
    .name = VM_NAME,
    .vv =
        {
#define BINARY(id, expr) [VM_##id] = vv_##id,
#include "vmath.def"
        },
    .vs =
        {
#define BINARY(id, expr) [VM_##id] = vs_##id,
#include "vmath.def"
        },
    .sv =
        {
#define BINARY(id, expr) [VM_##id] = sv_##id,
#include "vmath.def"
        },
    .unary =
        {
#define UNARY(id, expr) [VM_##id] = v_##id##_row,
#include "vmath.def"
        },
    .act =
        {
#define ACT(id, expr) [VA_##id] = act_row_##id,
#include "vmath.def"
        },
    .reduce =
        {
#define REDUCE(id) [VR_##id] = reduce_##id,
#include "vmath.def"
        },
    .bits = bits_row,
    .ints = ints_row,
    .gemm = gemm_row,
    .load = {CVT_EACH(CVT_LOAD_SLOT)},
    .store = {CVT_EACH(CVT_STORE_SLOT)},
    .load_fp4 = load_fp4,
    .store_fp4 = store_fp4,
};
