#!/usr/bin/env python3
"""programs.py -- what random programs compute (spec/support/random_programs.lua), in NumPy and ml_dtypes.

programs.py FOLDER   runs FOLDER/<seed>.py and compares with what nkilua made, FOLDER/<seed>.npz: raw bytes of inputs
(in_<name>) and results (out_<name>).

A program's text defines PLAN and tile(p, i, rows), one tile of rows; the names it uses are functions of this file.
Everything is compared to the bit but what no two libraries compute alike: functions of near.py, powers, softmax and
products of matrices. Of those the program stores the tile; it must lie within the bound written here, converted to its
dtype, and then the oracle goes on from the stored tile, so that no error is ever carried into what follows.
"""
import pathlib
import sys

import numpy as np

import arithmetic as ar
from combos import FLOAT, INT, canon, copy as convert, load as loaded, raw, store
from instructions import MATMUL, spread
from near import ACTS as NEAR, UNARY

F = np.float32
NEAR = {**NEAR, **UNARY}
WRAPS = ("add", "subtract", "multiply", "maximum", "minimum", "equal", "not_equal", "greater", "greater_equal", "less",
         "less_equal")
ROUND = {"ceil": np.ceil, "floor": np.floor, "trunc": np.trunc}


class T:
    """A tile: codes of a dtype."""

    def __init__(self, codes, dtype):
        self.codes, self.dtype = np.ascontiguousarray(codes), dtype

    @property
    def x(self):
        return loaded(self.codes.reshape(-1), self.dtype).reshape(self.codes.shape)

    @property
    def shape(self):
        return self.codes.shape

    def __getitem__(self, key):
        return T(self.codes[key], self.dtype)

    def __setitem__(self, key, value):
        self.codes[key] = cast(value, self.dtype).codes if isinstance(value, T) else number(value, self.dtype)


def number(value, dtype):
    if dtype in INT:
        return np.array(int(value) & 0xFFFFFFFF, np.uint32).astype(raw(dtype))
    return store(np.array([F(value)]), dtype)[0]


def made(x, dtype):
    return T(store(canon(x).reshape(-1), dtype).reshape(x.shape), dtype)


def full(shape, value, dtype):
    return T(np.full(shape, number(value, dtype), raw(dtype)), dtype)


def cast(t, dtype):
    return T(convert(t.codes.reshape(-1).copy(), t.dtype, dtype).reshape(t.shape), dtype)


def values(a):
    return a.x if isinstance(a, T) else F(a)


# ---- element by element
def unary(op, t, out):
    if op == "invert":
        return T(~t.codes, out)
    if op == "negative":
        return made(t.x * F(-1), out)
    if op in ("logical_not", "reciprocal"):
        return made(ar.alu(op, t.x), out)
    return made(canon((ROUND.get(op) or ar.ACTS[op])(t.x)), out)


def binary(op, a, b, out):
    if op in ar.BITS or op.endswith("_shift"):
        tile = a if isinstance(a, T) else b
        x, y = (v.codes if isinstance(v, T) else number(v, tile.dtype) for v in (a, b))
        return T(ar.bits(op, np.asarray(x), np.asarray(y)), out)
    whole = ("int32", "uint32")
    if isinstance(a, T) and isinstance(b, T) and a.dtype == b.dtype and {a.dtype, out} <= set(whole) and op in WRAPS:
        x, y = np.broadcast_arrays(a.codes, b.codes)
        return T(ar.integers(op, np.ascontiguousarray(x), np.ascontiguousarray(y), a.dtype), out)
    return made(ar.alu(op, values(a), values(b)), out)


def where(c, x, y, out):
    shape = np.broadcast_shapes(*(v.shape for v in (c, x, y) if isinstance(v, T)))
    x, y = (np.broadcast_to(cast(v, out).codes if isinstance(v, T) else number(v, out), shape) for v in (x, y))
    return T(np.where(c.x != 0, x, y), out)


# ---- reductions over the last n axes
def folded(op, x, n):
    rows = x.reshape(int(np.prod(x.shape[:-n])), -1)
    return ar.reduced(op, rows).reshape(x.shape[:-n])


def shaped(x, n, keep):
    if keep:
        return x.reshape(x.shape + (1,) * n)
    return x.reshape(x.shape + (1,)) if x.ndim < 2 else x


def reduce(op, t, n, keep, out):
    alu = {"sum": "add", "prod": "multiply", "max": "maximum", "min": "minimum", "all": "logical_and"}[op]
    return made(shaped(folded(alu, t.x, n), n, keep), out)


def mean(t, n, keep, out):
    share = F(1.0 / np.prod(t.shape[-n:]))
    return made(shaped(canon(folded("add", t.x, n)) * share, n, keep), out)


def var(t, n, out):
    share = F(1.0 / np.prod(t.shape[-n:]))
    middle = shaped(canon(folded("add", t.x, n)) * share, n, True)
    square = canon(canon(t.x - middle) ** 2)
    return made(shaped(canon(folded("add", square, n)) * share, n, True), out)


def rms_norm(t, w, n, count, epsilon, out):
    sums = shaped(folded("add", canon(t.x * t.x), n), n, True)
    middle = canon(canon(sums * F(1.0 / count)) + F(epsilon))
    return made(canon(canon(t.x * canon(F(1) / np.sqrt(middle))) * w.x), out)


# ---- moves
def broadcast(t, shape, out=None):
    return T(np.broadcast_to(cast(t, out or t.dtype).codes, shape), out or t.dtype)


def retype(t, dtype):
    return T(t.codes.view(raw(dtype)), dtype)


def transpose(t, gen, out=None):
    r = T(t.codes.T, t.dtype)
    large = max(t.shape) > 32
    if large and gen == 2 and t.dtype in MATMUL and t.dtype in FLOAT:
        x = r.x
        whole = np.isfinite(x).all(1, keepdims=True)
        r = T(np.where(whole, r.codes, store(spread(x).reshape(-1), t.dtype).reshape(x.shape)), t.dtype)
    return cast(r, out or t.dtype)


def gather(t, ids):
    flat = t.codes.reshape(t.shape[0], -1)
    return T(np.take_along_axis(flat, ids.codes.reshape(ids.shape[0], -1).astype(np.int64), 1).reshape(ids.shape), t.dtype)


def fold_loops(op, parts, out):
    r = cast(parts[0], out)
    for t in parts[1:]:
        r = binary(op, r, t, out)
    return r


def untouched(shape, dtype):
    """What was never written: NaN, or bytes 0xA5."""
    if dtype in FLOAT:
        return made(np.full(shape, np.nan, F), dtype)
    kind = raw(dtype)
    return T(np.full(shape, int.from_bytes(b"\xa5" * np.dtype(kind).itemsize, "little"), kind), dtype)


class Window:
    """A view of a tile: the byte at which each element begins."""

    def __init__(self, tile, at=None, dtype=None):
        self.tile, self.dtype = tile, dtype or tile.dtype
        self.size = np.dtype(raw(self.dtype)).itemsize
        self.at = np.arange(tile.codes.size).reshape(tile.shape) * self.size if at is None else at

    def of(self, at):
        return Window(self.tile, at, self.dtype)

    def key(self, keys):
        return self.of(self.at[keys])

    def slice(self, dim, start, stop, step):
        return self.of(self.at[(slice(None),) * dim + (slice(start, stop, step),)])

    def permute(self, dims):
        return self.of(self.at.transpose(dims))

    def reshape_dim(self, dim, sizes):
        s = self.at.shape
        return self.of(self.at.reshape(s[:dim] + tuple(sizes) + s[dim + 1:]))

    def flatten_dims(self, first, last):
        s = self.at.shape
        return self.of(self.at.reshape(s[:first] + (-1,) + s[last + 1:]))

    def reshape(self, shape):
        return self.of(self.at.reshape(shape))

    def select(self, dim, k):
        return self.of(self.at.take(k, dim))

    def squeeze_dim(self, dim):
        return self.of(self.at.squeeze(dim))

    def expand_dim(self, dim):
        return self.of(np.expand_dims(self.at, dim))

    def rearrange(self, pattern, y):
        """p ... (x y) -> p ... y x"""
        s = self.at.shape
        return self.of(self.at.reshape(s[:-1] + (-1, y)).swapaxes(-1, -2))

    def ap(self, pattern, offset):
        at = sum(s * k for (s, _), k in zip(pattern, np.indices([n for _, n in pattern])))
        return self.of((at + offset) * self.size)

    def view(self, dtype):
        size = np.dtype(raw(dtype)).itemsize
        if size == self.size:
            return Window(self.tile, self.at, dtype)
        steps = np.arange(0, self.at.shape[-1] * self.size, size)
        return Window(self.tile, self.at[..., :1] + steps, dtype)

    def bytes(self):
        return self.at[..., None] + np.arange(self.size)

    def get(self):
        data = self.tile.codes.reshape(-1).view(np.uint8)[self.bytes()]
        return T(np.ascontiguousarray(data).view(raw(self.dtype)).reshape(self.at.shape), self.dtype)

    def put(self, t):
        codes = np.ascontiguousarray(cast(t, self.dtype).codes).reshape(-1).view(np.uint8)
        self.tile.codes.reshape(-1).view(np.uint8)[self.bytes().reshape(-1)] = codes


# ---- what is near: (float64 value, bound)
def near_unary(op, t):
    x = t.x.astype(np.float64)
    r = NEAR[op](x)
    return r, 4e-7 * np.abs(r) + 4e-8


def near_power(a, b):
    r = np.power(np.float64(values(a)), np.float64(values(b)))
    return r, 2e-6 * np.abs(r) + 1e-44


def near_softmax(t, n):
    x = t.x.astype(np.float64)
    axes = tuple(range(x.ndim - n, x.ndim))
    d = x - x.max(axes, keepdims=True)
    e = np.exp(d)
    r = e / e.sum(axes, keepdims=True)
    return r, r * (4e-6 + 2e-7 * np.minimum(np.abs(d), 200)) + 1e-12


def near_part(shape, key, pair):
    """3 outside a part."""
    whole = tuple(np.full(shape, x, np.float64) for x in (3, 0))
    for w, part in zip(whole, pair):
        w[key] = part
    return whole


def near_matmul(x, y):
    """x: [K, M], y: [K, N]"""
    a, b = x.x.astype(np.float64), y.x.astype(np.float64)
    size = np.abs(a).T @ np.abs(b)  # partial sums that float32 does not hold may be anything
    return a.T @ b, np.where(size < 2.0**127, (a.shape[0] + 2) * 2.0**-23 * size + 1e-40, np.inf)


def near_sum(products):
    return tuple(sum(p[k] for p in products) for k in (0, 1))


class Fault(Exception):
    pass


class Program:
    def __init__(self, plan, arrays):
        self.plan, self.arrays, self.wanted = plan, arrays, {}
        for name, (shape, dtype) in plan["outs"].items():
            self.wanted[name] = self.input(name) if name in plan["inputs"] else T(np.zeros(shape, raw(dtype)), dtype)

    def array(self, kind, name, shape, dtype):
        return T(np.frombuffer(self.arrays[f"{kind}_{name}"].tobytes(), raw(dtype)).reshape(shape).copy(), dtype)

    def input(self, name):
        return self.array("in", name, *self.plan["inputs"][name])

    def load(self, name, key, dtype=None):
        t = (self.wanted.get(name) or self.input(name))[key]  # an input that is written
        return cast(t, dtype or t.dtype)

    def out(self, name, at, rows, t):
        self.wanted[name][at:at + rows] = t

    def near(self, name, at, rows, pair, dtype):
        """The stored tile, which must lie within the bound."""
        got = self.array("out", name, *self.plan["outs"][name])[at:at + rows]
        with np.errstate(all="ignore"):
            ref, bound = (np.broadcast_to(v, got.shape) for v in pair)
            low, high = (made((ref + s * bound).astype(F), dtype).x for s in (-1, 1))
            x = got.x
            loose = np.isnan(bound) | (np.abs(ref) > 1e37) | ~np.isfinite(bound)
            ok = (np.isnan(ref) & np.isnan(made(ref.astype(F), dtype).x) & np.isnan(x)) | ((x >= low) & (x <= high)) | loose
            ok |= (dtype in INT) & np.isnan(ref) & (x == made(np.full(1, np.nan, F), dtype).x)
            ok |= np.isnan(low) & np.isnan(x) | np.isnan(high) & np.isnan(x)
        if not ok.all():
            k = tuple(np.argwhere(~ok)[0])
            raise Fault(f"{name} at {at}, {k}: {x[k]!r} is not near {ref[k]!r} (bound {bound[k]!r})")
        self.wanted[name][at:at + rows] = got
        return got

    def check(self):
        for name, want in self.wanted.items():
            got = self.array("out", name, *self.plan["outs"][name])
            bad = np.argwhere(got.codes != want.codes)
            if len(bad):
                k = tuple(bad[0])
                raise Fault(f"{name} {k}: {got.x[k]!r} (code {got.codes[k]:#x}) where {want.x[k]!r} "
                            f"({want.codes[k]:#x}) is right; {len(bad)} of {want.codes.size} differ")


def run(path):
    names = dict(globals())
    exec(compile(path.read_text(), str(path), "exec"), names)  # the text of a program that was drawn
    p = Program(names["PLAN"], dict(np.load(path.with_suffix(".npz"))))
    with np.errstate(all="ignore"):
        names["program"](p)
        p.check()
    return sum(t.codes.size for t in p.wanted.values())


def main():
    faults = count = total = 0
    for path in sorted(pathlib.Path(sys.argv[1]).glob("*.py"), key=lambda q: int(q.stem)):
        count += 1
        try:
            total += run(path)
        except Fault as e:
            faults += 1
            print(f"FAULT seed {path.stem}: {e}")
    print(f"{count} programs, {total} numbers, {faults} faults")
    return 1 if faults or not count else 0


if __name__ == "__main__":
    sys.exit(main())
