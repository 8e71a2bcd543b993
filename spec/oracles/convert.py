"""Checksums of conversions as NumPy and ml_dtypes make them: the text of spec/sim/convert_sums.inc.

A row is the dtype, the checksum of storing the sample below, and that of loading every code (of 32-bit integers: the
sample's bits). The checksum is the sum of (value + 1) * ((index * G) | 1) modulo 2^64.
"""
import ml_dtypes as md
import numpy as np

G = np.uint64(0x9E3779B97F4A7C15)
BITS = {1: np.uint8, 2: np.uint16, 4: np.uint32}
LOW = (0, 1, 0x1000, 0x7FFF, 0x8000, 0x8001, 0xE000, 0xFFFF)
UPPER = np.arange(1 << 16, dtype=np.uint32) << np.uint32(16)
SAMPLE = np.concatenate([UPPER | np.uint32(low) for low in LOW]).view(np.float32)
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


def row(name, stored, dtype):
    bits = BITS[np.dtype(dtype).itemsize]
    codes = SAMPLE.view(bits) if bits is np.uint32 else np.arange(1 << np.iinfo(bits).bits).astype(bits)
    loaded = codes.view(dtype).astype(np.float32).view(np.uint32)
    return f"{{DT_{name}, 0x{checksum(stored.view(bits)):016x}u, 0x{checksum(loaded):016x}u}},\n"


def text():
    rows = []
    for name in FLOATS:
        dtype = np.float16 if name == "float16" else getattr(md, name)
        rows.append(row(name, SAMPLE.astype(dtype), dtype))
    for name in INTS:
        rows.append(row(name, to_int(SAMPLE, getattr(np, name)), getattr(np, name)))
    fp4 = SAMPLE.astype(md.float4_e2m1fn).view(np.uint8)
    codes = np.arange(16).astype(np.uint8).view(md.float4_e2m1fn).astype(np.float32).view(np.uint32)
    rows.append(f"{{DT_float4_e2m1fn_x4, 0x{checksum(fp4):016x}u, 0x{checksum(codes):016x}u}},\n")
    return "".join(rows)
