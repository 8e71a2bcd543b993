"""arithmetic.py -- operators, activations, folds and random generators of docs/semantics.md in NumPy."""
import numpy as np

from combos import ARITH, FLOAT, INT, INTS, NAN, canon, raw, store  # noqa: F401

F = np.float32


def maximum(a, b):
    """NaN wins, -0 is below +0."""
    r = np.where((a > b) | ((a == b) & np.signbit(b)), a, b)
    return np.where(np.isnan(a) | np.isnan(b), NAN, r)


def minimum(a, b):
    return np.where(np.isnan(a) | np.isnan(b), NAN, np.where((a < b) | ((a == b) & np.signbit(a)), a, b))


def either_nan(a, b, r):
    return np.where(np.isnan(a) | np.isnan(b), NAN, r)


ALU2 = {
    "add": lambda a, b: a + b, "subtract": lambda a, b: a - b, "multiply": lambda a, b: a * b,
    "maximum": maximum, "minimum": minimum,
    "equal": lambda a, b: a == b, "not_equal": lambda a, b: a != b, "greater_equal": lambda a, b: a >= b,
    "greater": lambda a, b: a > b, "less_equal": lambda a, b: a <= b, "less": lambda a, b: a < b,
    "logical_and": lambda a, b: (a != 0) & (b != 0), "logical_or": lambda a, b: (a != 0) | (b != 0),
    "logical_xor": lambda a, b: (a != 0) ^ (b != 0),
    "abs_max": lambda a, b: either_nan(a, b, np.where(np.abs(a) > np.abs(b), a, b)),
    "abs_min": lambda a, b: either_nan(a, b, np.where(np.abs(a) < np.abs(b), a, b)),
    "divide": lambda a, b: a / b, "mod": np.mod, "fmod": np.fmod,
}
ALU1 = {
    "reciprocal": lambda a: F(1) / a, "rsqrt": lambda a: F(1) / np.sqrt(a), "abs": np.abs,
    "logical_not": lambda a: a == 0, "square": lambda a: a * a, "relu": lambda a: maximum(a, F(0)),
    "bypass": lambda a: a,
}
GEN4 = ("abs_max", "abs_min", "square", "relu")
BITS = {"bitwise_and": np.bitwise_and, "bitwise_or": np.bitwise_or, "bitwise_xor": np.bitwise_xor}
ACTS = {"copy": lambda x: x, "square": lambda x: x * x, "relu": lambda x: maximum(x, F(0)), "abs": np.abs,
        "sign": lambda x: np.where(np.isnan(x), NAN, (x > 0).astype(F) - (x < 0).astype(F)),
        "sqrt": np.sqrt, "rsqrt": lambda x: F(1) / np.sqrt(x), "reciprocal": lambda x: F(1) / x}


def alu(name, a, b=None, reverse=False):
    if name in ALU1:
        return canon(ALU1[name](a).astype(F))
    a, b = np.broadcast_arrays(a, b)
    return canon(ALU2[name](*((b, a) if reverse else (a, b))).astype(F))


def integers(name, a, b, dtype):
    """The exact 32-bit operator on codes; the result as codes."""
    x, y = a.view(INTS[dtype]), b.view(INTS[dtype])
    with np.errstate(over="ignore"):
        r = {"maximum": np.maximum, "minimum": np.minimum}.get(name, ALU2[name])(x, y)
    return r.astype(INTS[dtype]).view(np.uint32)


def shift(name, a, b, width):
    r = a.astype(np.uint64)
    n = np.minimum(b.astype(np.uint64), 63)
    r = r << n if name == "left_shift" else r >> n
    return np.where(b >= width, 0, r & np.uint64(2**width - 1))


def bits(name, a, b=None, reverse=False):
    """a and b: codes of one width."""
    if name == "invert":
        return ~a
    a, b = np.broadcast_arrays(a, b)
    if reverse:
        a, b = b, a
    if name in BITS:
        return BITS[name](a, b)
    return shift(name, a, b, 8 * a.dtype.itemsize).astype(a.dtype)


# ---- folds: 32 partial results, element i goes to i mod 32, then halves --------------------------------------------
def fold(x, unit, step):
    x = np.concatenate([x, np.full((x.shape[0], -x.shape[1] % 32), unit, F)], 1)
    acc = np.full((x.shape[0], 32), unit, F)
    for i in range(0, x.shape[1], 32):
        acc = step(acc, x[:, i:i + 32])
    while acc.shape[1] > 1:
        h = acc.shape[1] // 2
        acc = step(acc[:, :h], acc[:, h:])
    return acc.astype(F)


IDENTITY = {"add": 0.0, "multiply": 1.0, "maximum": -np.inf, "minimum": np.inf, "abs_max": 0.0, "abs_min": np.inf}


def last_extreme(x, most, init):
    m = np.abs(x).max(1) if most else np.abs(x).min(1)  # NaN propagates
    out = np.full(x.shape[0], F(init))
    for p in range(x.shape[0]):
        hits = np.flatnonzero(np.abs(x[p]) == m[p])
        out[p] = NAN if np.isnan(m[p]) else x[p, hits[-1]] if len(hits) else F(init)
    return out[:, None]


def reduced(op, x):
    """Rows folded from the operator's identity."""
    if op in ("logical_and", "logical_or", "logical_xor"):
        count = (x != 0).sum(1, keepdims=True)
        return {"logical_and": count == x.shape[1], "logical_or": count > 0, "logical_xor": count % 2 == 1}[op].astype(F)
    if op == "subtract":
        r = x[:, :1]
        for i in range(1, x.shape[1]):
            r = canon(r - x[:, i:i + 1])
        return r
    if op in ("abs_max", "abs_min"):
        return last_extreme(x, op == "abs_max", IDENTITY[op])
    unit = F(IDENTITY[op])
    return alu(op, np.full((x.shape[0], 1), unit, F), fold(x, unit, ALU2[op]))


def accumulated(op, x, init=None):
    """The accumulator after reset_reduce, or load_reduce."""
    start = np.full((x.shape[0], 1), F(IDENTITY[op])) if init is None else init
    return alu(op, start, reduced(op, x))


# ---- random numbers -------------------------------------------------------------------------------------------------
def mix(z):
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def seeded(seed, lanes, words):
    i = np.arange(lanes * words, dtype=np.uint64)
    z = mix(mix(np.uint64(seed)) + (i + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(32)
    return np.where(z == 0, 1, z).astype(np.uint32).reshape(lanes, words)


def xorwow(st):
    t, v = st[..., 0] ^ (st[..., 0] >> np.uint32(2)), st[..., 4].copy()
    st[..., :4] = st[..., 1:5].copy()
    st[..., 4] = v ^ (v << np.uint32(4)) ^ t ^ (t << np.uint32(1))
    st[..., 5] += np.uint32(362437)
    return st[..., 5] + st[..., 4]


def xorshift(x):
    x ^= x << np.uint32(13)
    x ^= x >> np.uint32(17)
    x ^= x << np.uint32(5)
    return x.copy()


class Generators:
    """Those of one engine: one per lane."""

    def __init__(self, engine, gen, seed=None, lanes=8):
        if engine == "gpsimd":
            self.st, self.kind = seeded(2**32 if seed is None else seed, lanes, 6)[:, None, :], "one"
        else:
            words = seeded(seed or 0, lanes, 24)
            self.kind = "four" if gen == 4 else "shift"
            self.st = words.reshape(lanes, 4, 6) if gen == 4 else words[:, 0].copy()

    def draw(self, n):
        with np.errstate(over="ignore"):
            if self.kind == "shift":
                return np.stack([xorshift(self.st) for _ in range(n)], 1)
            count = self.st.shape[1]
            return np.stack([xorwow(self.st[:, i % count]) for i in range(n)], 1)


def unit(words):
    return (words >> np.uint32(8)).astype(F) * F(2.0**-24)
