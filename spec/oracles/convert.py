"""Checksums of conversions as NumPy and ml_dtypes make them: the text of spec/sim/convert_sums.inc.

A row of SUM is the dtype, the checksum of storing the sample below, and that of loading every code (of 32-bit types: the
sample's bits). The sample has every upper half of a float32 with the lower halves where float16, bfloat16, tfloat32 and
the 8-bit types round, and every integer and half up to 2^16 with its neighbours. A row of PAIR is two dtypes and the
checksum of all codes of the first (8 or 16 bits) as the second. The checksum is the sum of (value + 1) * ((index * G) | 1)
modulo 2^64.
"""
import ml_dtypes as md
import numpy as np

G = np.uint64(0x9E3779B97F4A7C15)
BITS = {1: np.uint8, 2: np.uint16, 4: np.uint32}
LOW = [eighth << 13 | tail for eighth in range(8) for tail in (0, 1, 0xFFF, 0x1000, 0x1001, 0x1FFF)]
UPPER = np.arange(1 << 16, dtype=np.uint32) << np.uint32(16)
WHOLE = np.arange(-(1 << 17) - 2, (1 << 17) + 3).astype(np.float32) / np.float32(2)
ENDS = np.array([2.0**31, -(2.0**31), 2.0**32, 2.0**24, 2.0**23, -(2.0**23), 2.0**22 + 0.5], np.float32)
POINTS = np.concatenate([WHOLE, ENDS]).view(np.uint32)
NEAR = [(POINTS.astype(np.int64) + d).astype(np.uint32) for d in (-1, 0, 1)]
SAMPLE = np.concatenate([UPPER | np.uint32(low) for low in LOW] + NEAR).view(np.float32)
FLOATS = ("float16", "bfloat16", "float8_e4m3", "float8_e5m2", "float8_e4m3fn", "float8_e8m0fnu")
INTS = ("uint8", "int8", "uint16", "int16", "int32", "uint32")


def checksum(values):
    index = np.arange(values.size, dtype=np.uint64)
    return int(((values.astype(np.uint64) + np.uint64(1)) * ((index * G) | np.uint64(1))).sum(dtype=np.uint64))


def to_int(x, dtype):
    """Nearest even, saturating, NaN gives 0."""
    info = np.iinfo(dtype)
    y = np.rint(x.astype(np.float64))
    return np.where(np.isnan(y), 0, np.clip(y, info.min, info.max)).astype(np.int64).astype(dtype)


def to_tf32(x):
    """Ten mantissa bits, nearest even; a NaN keeps its sign only."""
    u = x.view(np.uint32)
    kept, rest = u >> np.uint32(13), u & np.uint32(0x1FFF)
    up = (rest > 0x1000) | ((rest == 0x1000) & (kept & 1 == 1))
    return np.where(np.isnan(x), (u & np.uint32(1 << 31)) | np.uint32(0x7FC00000), (kept + up) << np.uint32(13))


def numpy_dtype(name):
    return getattr(np, name) if name in INTS + ("float16", "float32") else getattr(md, name)


def stored(x, name):
    """float32 as codes."""
    if name == "bool_":
        return ((x != 0) | np.isnan(x)).astype(np.uint8)
    if name == "tfloat32":
        return to_tf32(x).astype(np.uint32)
    if name == "float32":
        return x.view(np.uint32)
    y = to_int(x, numpy_dtype(name)) if name in INTS else x.astype(numpy_dtype(name))
    return y.view(BITS[y.itemsize])


def loaded(codes, name):
    """Codes as float32."""
    if name == "bool_":
        return (codes != 0).astype(np.float32)
    return codes.view(np.float32 if name == "tfloat32" else numpy_dtype(name)).astype(np.float32)


def codes_of(name):
    """All codes of 8 or 16 bits; of 32 bits, the sample's."""
    size = 4 if name == "tfloat32" else 1 if name == "bool_" else np.dtype(numpy_dtype(name)).itemsize
    return SAMPLE.view(np.uint32) if size == 4 else np.arange(1 << 8 * size).astype(BITS[size])


def nibbles():
    """float4_e2m1fn: codes of the sample, and all sixteen as float32."""
    return (SAMPLE.astype(md.float4_e2m1fn).view(np.uint8),
            np.arange(16).astype(np.uint8).view(md.float4_e2m1fn).astype(np.float32))


def text():
    rows, names = [], FLOATS + INTS + ("bool_", "tfloat32", "float32")
    for name in names:
        sums = checksum(stored(SAMPLE, name)), checksum(loaded(codes_of(name), name).view(np.uint32))
        rows.append(f"SUM({name}, 0x{sums[0]:016x}u, 0x{sums[1]:016x}u)\n")
    for name, code in (("float8_e5m2_x4", "float8_e5m2"), ("float8_e4m3fn_x4", "float8_e4m3fn")):
        sums = checksum(stored(SAMPLE, code)), checksum(loaded(codes_of(code), code).view(np.uint32))
        rows.append(f"SUM({name}, 0x{sums[0]:016x}u, 0x{sums[1]:016x}u)\n")
    codes, values = nibbles()
    rows.append(f"SUM(float4_e2m1fn_x4, 0x{checksum(codes):016x}u, 0x{checksum(values.view(np.uint32)):016x}u)\n")
    for a in names:
        codes = codes_of(a)
        for b in names if codes.itemsize < 4 else ():
            if a == b:
                continue
            out = stored(loaded(codes, a), b)
            rows.append(f"PAIR({a}, {b}, 0x{checksum(out):016x}u)\n")
    return "".join(rows)
