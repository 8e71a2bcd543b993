/* ir_types.h -- room ir: the vocabulary of the program model: generations and targets, element types, memory spaces,
   operators, activations, enumerations, engines. Part of ir.h, which everybody includes. */
#ifndef NK_IR_TYPES_H
#define NK_IR_TYPES_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- generations, targets (chip.def) ----------------------------------------------------------------------------- */
typedef enum Gen { gen2 = 2, gen3 = 3, gen4 = 4 } Gen;
typedef enum Target {
#define TARGET(name, gen, canonical, cores, aliases) TARGET_##name,
#include "chip.def"
  TARGET_count
} Target;
typedef struct ChipInfo {
  Gen gen;
  const char *name;
  int64_t sbuf_physical, sbuf_usable, psum_bytes; /* per partition */
  int psum_banks, tensor_mhz, vector_mhz, scalar_mhz, gpsimd_mhz;
} ChipInfo;
const ChipInfo *chip_of(Target t);
const char *target_name(Target t); /* "trn2" */
int target_cores(Target t);
bool target_parse(const char *name, size_t n, Target *out); /* names and aliases */
const char *const *target_names(void);                      /* NULL-terminated, for messages */

/* ---- element types (dtype.def) ----------------------------------------------------------------------------------- */
typedef enum DType {
  DT_none,
#define DTYPE(id, bits, class, elems, mlir, hlo, npy, st, gen, aliases, doc) DT_##id,
#include "dtype.def"
#undef DTYPE
  DT_count
} DType;
typedef enum DClass { DC_FLT, DC_INT, DC_UINT, DC_BOOL, DC_SCALE, DC_PACK } DClass;
typedef struct DTypeInfo {
  const char *name; /* NKI's: "bfloat16" */
  int bytes;
  DClass cls;
  int elems;
  const char *mlir, *hlo, *npy, *safetensors;
  Gen gen;
  const char *aliases, *doc;
} DTypeInfo;
extern const DTypeInfo dtype_info[DT_count];
DType dtype_parse(const char *name, size_t n); /* name or alias, DT_none when unknown */
const char *const *dtype_names(void);          /* NULL-terminated, for messages */
static inline const char *dtype_name(DType d) { return dtype_info[d].name; }
static inline int64_t dtype_bytes(DType d) { return dtype_info[d].bytes; }
static inline bool dtype_is_float(DType d) { return dtype_info[d].cls == DC_FLT; }
static inline bool dtype_is_int(DType d) {
  return dtype_info[d].cls == DC_INT || dtype_info[d].cls == DC_UINT || dtype_info[d].cls == DC_BOOL;
}
/* int32 or uint32: float32 does not hold them all. */
static inline bool dtype_is_wide_int(DType d) { return d == DT_int32 || d == DT_uint32; }
/* Result type of an operation on two tiles (facts: classic promotion). */
DType dtype_promote(DType a, DType b);
/* Smallest and largest value of an integer or bool type. */
void dtype_int_range(DType d, int64_t *lo, int64_t *hi);

/* dtype sets, for the rows */
#define DM(id) (1u << DT_##id)
#define DM_FLOAT \
  (DM(float32) | DM(bfloat16) | DM(float16) | DM(tfloat32) | DM(float8_e4m3) | DM(float8_e5m2) | DM(float8_e4m3fn))
#define DM_INT (DM(uint8) | DM(int8) | DM(uint16) | DM(int16) | DM(uint32) | DM(int32) | DM(bool_))
#define DM_PACK (DM(float8_e5m2_x4) | DM(float8_e4m3fn_x4) | DM(float4_e2m1fn_x4))
#define DM_ARITH (DM_FLOAT | DM_INT)
#define DM_MATMUL /* TensorE operands of every generation */ \
  (DM(float32) | DM(bfloat16) | DM(float16) | DM(tfloat32) | DM(float8_e4m3) | DM(float8_e5m2))
#define DM_ANY (DM_ARITH | DM_PACK | DM(float8_e8m0fnu))

/* ---- memory spaces ----------------------------------------------------------------------------------------------- */
typedef enum Space { SP_reg, SP_sbuf, SP_psum, SP_private_hbm, SP_shared_hbm, SP_count } Space;
const char *space_name(Space s);                          /* "sbuf" ... "hbm" prints as "private_hbm" */
bool space_parse(const char *name, size_t n, Space *out); /* accepts "hbm" */
static inline bool space_on_chip(Space s) { return s == SP_sbuf || s == SP_psum; }
static inline bool space_is_hbm(Space s) { return s == SP_private_hbm || s == SP_shared_hbm; }

/* ---- operators, activations, enums (enums.def) ------------------------------------------------------------------- */
typedef enum Alu {
  ALU_none,
#define ALU(id, class, arity, reduce, engines, gen, doc) ALU_##id,
#include "enums.def"
  ALU_count
} Alu;
typedef enum Act {
  ACT_none,
#define ACT(id, range, gen, doc) ACT_##id,
#include "enums.def"
  ACT_count
} Act;
enum {
#define ENUM(type, id, value) type##_##id = (value),
#include "enums.def"
};
typedef enum AluClass { AC_ARITH, AC_BITVEC, AC_CMP, AC_LOGIC } AluClass;
#define AM(id) (UINT64_C(1) << ALU_##id)
#define AM_CMP (AM(equal) | AM(not_equal) | AM(greater_equal) | AM(greater) | AM(less_equal) | AM(less))
#define AM_LOGIC2 (AM(logical_and) | AM(logical_or) | AM(logical_xor))
#define AM_ARITH2 /* two operands, evaluated in f32 */                                                         \
  (AM(add) | AM(subtract) | AM(multiply) | AM(maximum) | AM(minimum) | AM(power) | AM(abs_max) | AM(abs_min) | \
   AM_CMP | AM_LOGIC2)
#define AM_ARITH1 (AM(logical_not) | AM(rsqrt) | AM(reciprocal) | AM(abs) | AM(square) | AM(relu))
#define AM_BITVEC2 (AM(bitwise_and) | AM(bitwise_or) | AM(bitwise_xor) | AM(left_shift) | AM(right_shift))
#define AM_BITVEC (AM_BITVEC2 | AM(invert))
#define AM_REDUCE /* legal as a reduction over elements */                                                            \
  (AM(add) | AM(subtract) | AM(multiply) | AM(maximum) | AM(minimum) | AM_LOGIC2 | AM(bitwise_and) | AM(bitwise_or) | \
   AM(bitwise_xor))
typedef struct AluInfo {
  const char *name;
  AluClass cls;
  uint8_t arity;
  bool reduce;
  uint32_t engines; /* mask of EM_ */
  Gen gen;
  const char *doc;
} AluInfo;
typedef struct ActInfo {
  const char *name;
  bool limited;   /* lo..hi holds */
  bool magnitude; /* the range is of |x| */
  double lo, hi;
  Gen gen;
  const char *doc;
} ActInfo;
extern const AluInfo alu_info[ALU_count];
extern const ActInfo act_info[ACT_count];
Alu alu_parse(const char *name, size_t n); /* ALU_none when unknown */
Act act_parse(const char *name, size_t n);
const char *const *alu_names(void);
const char *const *act_names(void);

typedef enum EnumType {
  ET_none,
  ET_engine,
  ET_reduce_cmd,
  ET_dge_mode,
  ET_oob_mode,
  ET_matmul_perf_mode,
  ET_nc_version,
  ET_dma_engine,
  ET_sim_binary_op,
  ET_sim_unary_op,
  ET_count
} EnumType;
const char *enum_type_name(EnumType t);
bool enum_is_text(EnumType t);                /* NKI's members of it are strings, their names */
const char *enum_name(EnumType t, int value); /* NULL when no member has that value */
bool enum_has(EnumType t, int64_t value);
bool enum_parse(EnumType t, const char *name, size_t n, int *out);
const char *const *enum_names(EnumType t); /* NULL-terminated, in file order */

/* engine masks; bit = 1 << engine enum value */
#define EM_TENSOR (1u << engine_tensor)
#define EM_SCALAR (1u << engine_scalar)
#define EM_GPSIMD (1u << engine_gpsimd)
#define EM_DMA (1u << engine_dma)
#define EM_VECTOR (1u << engine_vector)
#define EM_SYNC (1u << engine_sync)
#define EM_SIM (1u << 7) /* the simulator only: no hardware instruction */
#define ENGINE_SIM 7     /* its place in engine numbers; not a member of the public enum */
#define EM_CC (1u << 8)  /* the cores for collective communication; not a member either */
#define ENGINE_CC 8
#endif
