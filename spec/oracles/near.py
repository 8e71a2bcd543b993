"""near.py -- functions that no library computes to the same bit: numbers.near.npz, float64 rounded once.

act_<function>_<dtype>, unary_<function>_<dtype>, power_<dtype>, exponential_<dtype>: of pool e, or r where a function
has a range.
"""
from math import erf, erfc

import numpy as np

from combos import ARITH, load

LIMITED = ("log", "sin", "arctan")


def sig(x):
    return np.where(x >= 0, 1 / (1 + np.exp(-np.abs(x))), np.exp(-np.abs(x)) / (1 + np.exp(-np.abs(x))))


def times(x, y):
    """x * y where y vanishes faster than x grows."""
    return np.where(y == 0, 0, x * y)


def each(f):
    return lambda x: np.array([f(float(t)) for t in x.reshape(-1)]).reshape(x.shape)


cdf = each(lambda t: erfc(-t / np.sqrt(2)) / 2)
ACTS = {
    "sigmoid": sig, "tanh": np.tanh, "exp": np.exp, "log": np.log, "sin": np.sin, "arctan": np.arctan,
    "gelu": lambda x: times(x, cdf(x)),
    "gelu_dx": lambda x: cdf(x) + times(x, np.exp(-x * x / 2) / np.sqrt(2 * np.pi)),
    "gelu_apprx_tanh": lambda x: times(x, sig(2 * np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))),
    "gelu_apprx_sigmoid": lambda x: times(x, sig(1.702 * x)),
    "gelu_apprx_sigmoid_dx": lambda x: sig(1.702 * x) + times(1.702 * x, sig(1.702 * x) * sig(-1.702 * x)),
    "silu": lambda x: times(x, sig(x)), "silu_dx": lambda x: sig(x) + times(x, sig(x) * sig(-x)),
    "softplus": lambda x: np.logaddexp(0, x), "mish": lambda x: times(x, np.tanh(np.logaddexp(0, x))),
    "erf": each(erf), "erf_dx": lambda x: 2 / np.sqrt(np.pi) * np.exp(-x * x),
}
UNARY = {"sin": np.sin, "cos": np.cos, "tan": np.tan}


def values(data):
    out = {}
    for dtype in ARITH:
        e, r = (load(data[f"{p}_{dtype}"], dtype).astype(np.float64) for p in "er")
        for name, f in ACTS.items():
            out[f"act_{name}_{dtype}"] = f(r if name in LIMITED else e)
        for name, f in UNARY.items():
            out[f"unary_{name}_{dtype}"] = f(e)
        out[f"power_{dtype}"] = np.power(e, np.float64(np.float32(1.3)))
        column = np.repeat(np.array([1, -2.5, 0.5, 3, 0, 100, -0.0, 2]), 8)
        out[f"exponential_{dtype}"] = np.exp((e.astype(np.float32) - column.astype(np.float32)).astype(np.float64))
        total = np.exp(np.clip(r, 0, 2).astype(np.float32).astype(np.float64)).reshape(8, 8).sum(1) + column[::8]
        out[f"expsum_{dtype}"] = total
    return {k: v.astype(np.float32) for k, v in out.items()}
