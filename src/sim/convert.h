/* convert.h -- room sim: rows between storage types and f32.

   Widening is exact except int32 and uint32, which round to nearest even. Narrowing to floats rounds to nearest even
   with the results of NumPy and ml_dtypes: overflow to inf (float8_e4m3fn: NaN; float4_e2m1fn: saturates), subnormals
   kept, NaN canonical with its sign (float16: the payload's upper bits). tfloat32 keeps 10 mantissa bits in 4 bytes,
   its NaN is canonical. To integers: nearest even, then saturate, NaN gives 0. To bool: nonzero or NaN gives 1.
   float8_e8m0fnu: ties go up, zero, negative values and overflow give NaN (0xff).
   Rows are aligned to their element and do not overlap. The FP environment is that of fp_enter. */
#ifndef NK_SIM_CONVERT_H
#define NK_SIM_CONVERT_H
#include <stdint.h>

#include "ir.h"

void cvt_load(DType from, const void *src, int64_t n, float *dst);
void cvt_store(DType to, const float *src, int64_t n, void *dst);
/* Storage elements `stride` elements apart (0 and negative allowed); the f32 side is contiguous. */
void cvt_load_strided(DType from, const void *src, int64_t stride, int64_t n, float *dst);
void cvt_store_strided(DType to, const float *src, int64_t n, void *dst, int64_t stride);

/* Packed types: n containers, 4n numbers, element 0 in the lowest byte or nibble. */
void cvt_unpack(DType from, const void *src, int64_t n, float *dst);
void cvt_pack(DType to, const float *src, int64_t n, void *dst);
#endif
