/* convert.c -- room sim: conversions between storage types and f32: public entries, strides, packed types. */
#include "convert.h"

#include <assert.h>
#include <string.h>

#include "vmath_isa.h"

enum { BLOCK = 512 };
/* What is gathered at a time of a strided row. */
typedef union Block {
  uint8_t b[BLOCK];
  uint16_t h[BLOCK];
  uint32_t w[BLOCK];
} Block;

void cvt_load(DType from, const void *src, int64_t n, float *dst) {
  CvtLoad *load = vm_isa_chosen()->load[from];
  assert(load);
  load(src, n, dst);
}
void cvt_store(DType to, const float *src, int64_t n, void *dst) {
  CvtStore *store = vm_isa_chosen()->store[to];
  assert(store);
  store(src, n, dst);
}

static int bytes_of(DType t) {
  switch (t) {
    case DT_float32:
    case DT_tfloat32:
    case DT_int32:
    case DT_uint32:
      return 4;
    case DT_float16:
    case DT_bfloat16:
    case DT_int16:
    case DT_uint16:
      return 2;
    default:
      return 1;
  }
}

/* Moves n elements; steps are in elements, one of them is 1. */
#define MOVE(T)                                                        \
  do {                                                                 \
    const T *s = src;                                                  \
    T *d = dst;                                                        \
    for (int64_t i = 0; i < n; i++) d[i * dst_step] = s[i * src_step]; \
  } while (0)
static void move_8(const void *src, int64_t src_step, void *dst, int64_t dst_step, int64_t n) { MOVE(uint8_t); }
static void move_16(const void *src, int64_t src_step, void *dst, int64_t dst_step, int64_t n) { MOVE(uint16_t); }
static void move_32(const void *src, int64_t src_step, void *dst, int64_t dst_step, int64_t n) { MOVE(uint32_t); }
typedef void Move(const void *src, int64_t src_step, void *dst, int64_t dst_step, int64_t n);
static Move *move_of(int bytes) { return bytes == 1 ? move_8 : bytes == 2 ? move_16 : move_32; }

void cvt_load_strided(DType from, const void *src, int64_t stride, int64_t n, float *dst) {
  if (stride == 1) {
    cvt_load(from, src, n, dst);
    return;
  }
  Block block;
  int bytes = bytes_of(from);
  Move *move = move_of(bytes);
  for (int64_t i = 0; i < n; i += BLOCK) {
    int64_t m = n - i < BLOCK ? n - i : BLOCK;
    move((const char *)src + i * stride * bytes, stride, &block, 1, m);
    cvt_load(from, &block, m, dst + i);
  }
}
void cvt_store_strided(DType to, const float *src, int64_t n, void *dst, int64_t stride) {
  if (stride == 1) {
    cvt_store(to, src, n, dst);
    return;
  }
  Block block;
  int bytes = bytes_of(to);
  Move *move = move_of(bytes);
  for (int64_t i = 0; i < n; i += BLOCK) {
    int64_t m = n - i < BLOCK ? n - i : BLOCK;
    cvt_store(to, src + i, m, &block);
    move(&block, 1, (char *)dst + i * stride * bytes, stride, m);
  }
}

void cvt_unpack(DType from, const void *src, int64_t n, float *dst) {
  const VmIsa *isa = vm_isa_chosen();
  assert(from == DT_float8_e5m2_x4 || from == DT_float8_e4m3fn_x4 || from == DT_float4_e2m1fn_x4);
  CvtLoad *load = from == DT_float4_e2m1fn_x4   ? isa->load_fp4
                  : from == DT_float8_e4m3fn_x4 ? isa->load[DT_float8_e4m3fn]
                                                : isa->load[DT_float8_e5m2];
  load(src, 4 * n, dst);
}
void cvt_pack(DType to, const float *src, int64_t n, void *dst) {
  const VmIsa *isa = vm_isa_chosen();
  assert(to == DT_float8_e5m2_x4 || to == DT_float8_e4m3fn_x4 || to == DT_float4_e2m1fn_x4);
  CvtStore *store = to == DT_float4_e2m1fn_x4   ? isa->store_fp4
                    : to == DT_float8_e4m3fn_x4 ? isa->store[DT_float8_e4m3fn]
                                                : isa->store[DT_float8_e5m2];
  store(src, 4 * n, dst);
}
