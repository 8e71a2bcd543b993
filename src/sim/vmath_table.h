/* vmath_table.h -- room sim: the table of one instruction set, made of the kernels compiled into the including file. */
#include "convert_rows.h"
#include "gemm_rows.h"
#include "vmath_fold.h"
#include "vmath_rows.h"

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
    .gemm_has_nan = gemm_has_nan,
    .load =
        {
#define CONVERT(id, T, load, save) [DT_##id] = load_##id,
#include "convert.def"
        },
    .store =
        {
#define CONVERT(id, T, load, save) [DT_##id] = store_##id,
#include "convert.def"
        },
    .load_fp4 = load_fp4,
    .store_fp4 = store_fp4,
};
