/* dtype.c -- room ir: the table of element types, names, promotion and ranges. Memory spaces live here too. */
#include <string.h>

#include "ir.h"
#include "names.h"

const DTypeInfo dtype_info[DT_count] = {
    [DT_none] = {.name = "none", .cls = DC_UINT, .elems = 0, .mlir = "", .hlo = "", .npy = "", .safetensors = ""},
#define DTYPE(id, bits, class, elems_, mlir_, hlo_, npy_, st_, gen_, aliases_, doc_) \
  [DT_##id] = {.name = #id,                                                          \
               .bytes = (bits) / 8,                                                  \
               .cls = DC_##class,                                                    \
               .elems = (elems_),                                                    \
               .mlir = mlir_,                                                        \
               .hlo = hlo_,                                                          \
               .npy = npy_,                                                          \
               .safetensors = st_,                                                   \
               .gen = gen_,                                                          \
               .aliases = aliases_,                                                  \
               .doc = doc_},
#include "dtype.def"
#undef DTYPE
};

static const char *const names[] = {
#define DTYPE(id, ...) #id,
#include "dtype.def"
#undef DTYPE
    NULL};
const char *const *dtype_names(void) { return names; }

DType dtype_parse(const char *name, size_t n) {
  int i = name_index(names, name, n);
  if (i >= 0) return (DType)(i + 1);
  for (int d = 1; d < DT_count; d++)
    if (name_in_words(dtype_info[d].aliases, name, n)) return (DType)d;
  return DT_none;
}

void dtype_int_range(DType d, int64_t *lo, int64_t *hi) {
  int bits = dtype_info[d].bytes * 8;
  switch (dtype_info[d].cls) {
    case DC_BOOL:
      *lo = 0, *hi = 1;
      return;
    case DC_INT:
      *lo = -(INT64_C(1) << (bits - 1)), *hi = (INT64_C(1) << (bits - 1)) - 1;
      return;
    default:
      *lo = 0, *hi = (INT64_C(1) << bits) - 1;
      return;
  }
}

/* Sign and width of an integer operand; bool counts as a 1-bit unsigned. The result holds every value of both; where
   that needs more than 32 bits it is float32. */
static DType promote_ints(DType a, DType b) {
  if (a == DT_bool_ || b == DT_bool_) return a == DT_bool_ ? b : a;
  bool sa = dtype_info[a].cls == DC_INT, sb = dtype_info[b].cls == DC_INT;
  int wa = dtype_info[a].bytes, wb = dtype_info[b].bytes;
  if (sa == sb) return wa >= wb ? a : b;
  DType s = sa ? a : b;
  int wu = sa ? wb : wa, ws = sa ? wa : wb;
  if (ws > wu) return s;
  return wu == 1 ? DT_int16 : wu == 2 ? DT_int32 : DT_float32;
}

/* a and b are different float types. */
static DType promote_floats(DType a, DType b) {
  uint32_t both = 1u << a | 1u << b;
  if (both & DM(float32)) return DT_float32;
  if ((both & DM(float16)) && (both & DM(bfloat16))) return DT_float32;
  if (both & DM(tfloat32)) return DT_tfloat32;
  if (both & DM(float16)) return DT_float16;
  return DT_bfloat16; /* with bfloat16, or two different 8-bit formats */
}

DType dtype_promote(DType a, DType b) {
  if (a == b) return a;
  bool fa = dtype_is_float(a), fb = dtype_is_float(b);
  if (!(fa || dtype_is_int(a)) || !(fb || dtype_is_int(b)))
    return DT_none; /* packed and scale types mix with nothing */
  if (a == DT_none || b == DT_none) return DT_none;
  if (fa && fb) return promote_floats(a, b);
  if (fa || fb) return fa ? a : b;
  return promote_ints(a, b);
}

static const char *const space_names[] = {"reg", "sbuf", "psum", "private_hbm", "shared_hbm", NULL};
const char *space_name(Space s) { return space_names[s]; }
bool space_parse(const char *name, size_t n, Space *out) {
  int i = name_index(space_names, name, n);
  if (i < 0 && n == 3 && memcmp(name, "hbm", 3) == 0) i = SP_private_hbm;
  if (i < 0) return false;
  *out = (Space)i;
  return true;
}
