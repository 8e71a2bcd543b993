"""operators.py -- edge values of every operator, activation and conversion.

alu.npz           a, b (all ordered pairs of EDGES) and one float32 member per exact operator
precise_fp.npz    what NKI_PRECISE_FP=1 and 0 make of a chain of narrow tiles
activation.near.npz  x and one member per activation, computed in float64 and rounded once
to_<dtype>.npz    x (float32 edges) and the same values in <dtype>, as raw bytes
"""
import ml_dtypes
import numpy as np
from math import erf

from convert import to_tf32

EDGES = np.array(
    [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.0, 7.25, np.inf, -np.inf, np.nan, 1e-40, -1e-45, 3.4028235e38, -3.4028235e38,
     16777216.0, 16777217.0, 1e-20, 65504.0, -448.0], np.float32)

NARROW = {
    "bfloat16": ml_dtypes.bfloat16, "float16": np.float16, "float8_e4m3": ml_dtypes.float8_e4m3,
    "float8_e5m2": ml_dtypes.float8_e5m2, "float8_e4m3fn": ml_dtypes.float8_e4m3fn,
}
INTEGER = {"int8": np.int8, "uint8": np.uint8, "int16": np.int16, "uint16": np.uint16,
           "int32": np.int32, "uint32": np.uint32}


def truth(x):
    return (x != 0) | np.isnan(x)


def alu():
    a, b = (m.reshape(-1) for m in np.meshgrid(EDGES, EDGES, indexing="ij"))
    with np.errstate(all="ignore"):
        out = {
            "add": a + b, "subtract": a - b, "multiply": a * b,
            "maximum": np.maximum(a, b), "minimum": np.minimum(a, b),
            "equal": a == b, "not_equal": a != b, "greater": a > b, "greater_equal": a >= b,
            "less": a < b, "less_equal": a <= b,
            "logical_and": truth(a) & truth(b), "logical_or": truth(a) | truth(b), "logical_xor": truth(a) ^ truth(b),
            "divide": a / b, "fmod": np.fmod(a, b), "mod": np.mod(a, b),
        }
    return {"alu.npz": {"a": a, "b": b, **{k: v.astype(np.float32) for k, v in out.items()}}}


def activations():
    x = np.concatenate([np.linspace(-3.1, 3.1, 63), [-100.0, -30.0, -12.0, -5.5, 5.5, 12.0, 30.0, 100.0]])
    x = x.astype(np.float32)
    p = np.abs(x) + np.float32(0.01)
    x6, p6 = x.astype(np.float64), p.astype(np.float64)
    with np.errstate(all="ignore"):
        sig = lambda t: 1 / (1 + np.exp(-t))
        softplus = np.logaddexp(0, x6)
        erfx = np.array([erf(t) for t in x6])
        cdf = np.array([(1 + erf(t / np.sqrt(2))) / 2 for t in x6])  # of the normal distribution
        phi = np.exp(-x6 * x6 / 2) / np.sqrt(2 * np.pi)
        s17, s1 = sig(1.702 * x6), sig(x6)
        out = {
            "copy": x6, "square": x6 * x6, "relu": np.maximum(x6, 0), "sigmoid": s1, "tanh": np.tanh(x6),
            "exp": np.exp(x6),
            "abs": np.abs(x6), "sign": np.sign(x6), "gelu": x6 * cdf, "gelu_dx": cdf + x6 * phi,
            "gelu_apprx_tanh": x6 / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (x6 + 0.044715 * x6**3))),
            "gelu_apprx_sigmoid": x6 * s17, "gelu_apprx_sigmoid_dx": s17 + 1.702 * x6 * s17 * (1 - s17),
            "silu": x6 * s1, "silu_dx": s1 + x6 * s1 * (1 - s1), "softplus": softplus, "mish": x6 * np.tanh(softplus),
            "erf": erfx, "erf_dx": 2 / np.sqrt(np.pi) * np.exp(-x6 * x6),
        }
        positive = {"log": np.log(p6), "sqrt": np.sqrt(p6), "rsqrt": 1 / np.sqrt(p6), "reciprocal": 1 / p6}
        narrow = np.clip(x6, -1.5, 1.5).astype(np.float32)
        n6 = narrow.astype(np.float64)
        all_ = {**out, **positive, "sin": np.sin(n6), "arctan": np.arctan(n6)}
        return {"activation.near.npz": {
            "x": x, "positive": p, "narrow": narrow,
            **{k: v.astype(np.float32) for k, v in all_.items()}}}


def sample():
    """Float32 values around every rounding decision: halves, their neighbours, range ends, subnormals."""
    bits = np.arange(0, 1 << 16, 97, dtype=np.uint32) << 16
    tails = np.array([0x0000, 0x0001, 0x7FFF, 0x8000, 0x8001, 0xFFFF], np.uint32)
    wide = (bits[:, None] | tails[None, :]).reshape(-1)
    with np.errstate(all="ignore"):
        values = wide.view(np.float32)
    return values[~np.isnan(values)]


def conversions():
    x = np.concatenate([EDGES, sample()])
    out = {}
    with np.errstate(all="ignore"):
        for name, dtype in NARROW.items():
            y = x.astype(dtype)
            out[f"to_{name}.npz"] = {"x": x, "out": y.view(np.uint8 if y.itemsize == 1 else np.uint16)}
        halves = np.array([0.5, 1.5, 2.5, -0.5, -1.5, 127.5, 300, -129, np.inf, -np.inf, np.nan, 2147483520.0,
                           2147483648.0,
                           4294967040.0, 4294967296.0, -2147483648.0, -1.0, 65535.5, 32767.5, -32768.5], np.float32)
        for name, dtype in INTEGER.items():
            info = np.iinfo(dtype)
            y = np.clip(np.rint(halves.astype(np.float64)), info.min, info.max)
            out[f"to_{name}.npz"] = {"x": halves, "out": np.where(np.isnan(y), 0, y).astype(dtype)}
    return out


def precise():
    """A chain of narrow tiles, rounded at every step (1) and only at the end (0): y = x * 1.1, z = y + x, s = sum z."""
    rng = np.random.Generator(np.random.PCG64(7))
    wide = (rng.standard_normal((4, 32)) * 3).astype(np.float32)
    out = {}
    for name, dtype in {**NARROW, "tfloat32": None}.items():
        cut = (lambda t, d=dtype: t.astype(d).astype(np.float32)) if dtype else (
            lambda t: to_tf32(t).astype(np.uint32).view(np.float32))
        x = cut(wide)
        out[f"{name}_x"] = x
        for mode, keep in (("1", cut), ("0", lambda t: t)):
            z = keep(keep(x * np.float32(1.1)) + x)
            lanes = z
            for h in (16, 8, 4, 2, 1):
                lanes = lanes[:, :h] + lanes[:, h:2 * h]
            out[f"{name}_z{mode}"], out[f"{name}_s{mode}"] = cut(z), cut(lanes)
    return {"precise_fp.npz": out}


def files():
    return {**alu(), **activations(), **conversions(), **precise()}
