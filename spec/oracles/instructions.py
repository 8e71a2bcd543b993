"""instructions.py -- what each instruction computes, one NumPy function each, and which dtypes it takes (combos.py)."""
import numpy as np

import arithmetic as ar
import selections
from arithmetic import F, accumulated, alu, bits, reduced
from combos import (ANY, ARITH, FLOAT, INT, PACK, NAN, Row, canon, copy, load, pack, raw, store, unpack)

ROWS = {}
A, B, C = (8, 64), (8, 64), (8, 1)
VECTOR2 = ("add", "subtract", "multiply", "maximum", "minimum", "equal", "not_equal", "greater_equal", "greater",
           "less_equal", "less", "logical_and", "logical_or", "logical_xor", "abs_max", "abs_min")
BITS2 = ("bitwise_and", "bitwise_or", "bitwise_xor", "left_shift", "right_shift")
F32 = ("float32",)


def row(name, sources, outs, variants):
    def add(f):
        ROWS[name] = Row(sources, outs, variants, f)
        return f
    return add


def width(dtype):
    return np.dtype(raw(dtype)).itemsize


def same_width(*dtypes):
    return all(d in INT and width(d) == width(dtypes[0]) for d in dtypes)


# ---- moves and fills ------------------------------------------------------------------------------------------------
@row("dma_copy", [(A, "a", ANY)], [ANY], ["plain"])
def dma_copy(v, s, out, gen):
    if gen < 4 and (s[0].dtype not in ARITH or out[0] not in ARITH):
        return None
    r = copy(s[0].codes, s[0].dtype, out[0])
    return None if r is None else [r]


@row("dma_transpose", [(A, "a", ANY)], [ANY], ["plain"])
def dma_transpose(v, s, out, gen):
    return [s[0].codes.T] if out[0] == s[0].dtype and (gen == 4 or out[0] in ARITH) else None


@row("dma_compute", [(A, "a", ARITH), (B, "b", ARITH)], [ARITH], ["two"])
def dma_compute(v, s, out, gen):
    return [store(canon(s[0].x + s[1].x), out[0])]


@row("tensor_copy", [(A, "a", ANY)], [ANY], ["vector", "gpsimd", "scalar"])
def tensor_copy(v, s, out, gen):
    return None if v == "scalar" and gen == 2 else dma_copy(v, s, out, gen)


FILLS = ("0.0", "1.0", "-1.0", "0.5", "2.0", "300.0", "65504.0", "-448.0", "1e30", "1e-41", "inf", "-inf", "nan",
         "16777217.0", "4294967295.0", "-2147483648.0")


def fits(value, dtype, gen):
    if dtype in FLOAT:
        return True
    if dtype in PACK:
        return gen == 4 and value == 0
    if dtype == "float8_e8m0fnu":
        m, e = np.frexp(value)
        return gen == 4 and np.isfinite(value) and m == 0.5 and -126 <= e <= 128
    lo, hi = (0, 1) if dtype == "bool_" else (np.iinfo(ar.INTS[dtype]).min, np.iinfo(ar.INTS[dtype]).max)
    return bool(lo <= value <= hi and value == np.floor(value))


@row("memset", [], [ANY], FILLS)
def memset(v, s, out, gen):
    value = float(v)
    if not fits(value, out[0], gen):
        return None
    if out[0] in PACK:
        return [np.zeros(A, raw(out[0]))]
    if out[0] == "float8_e8m0fnu":
        return [np.full(A, int(np.log2(value)) + 127, np.uint8)]
    if out[0] in INT:
        return [np.full(A, int(value) & 0xFFFFFFFF, np.uint32).astype(raw(out[0]))]
    return [store(np.full(A, F(value)), out[0])]


@row("tensor_copy_predicated", lambda v: [(A, "a", ARITH), (B, "b", ("bool_", "uint8", "uint16", "uint32"))], [ARITH],
     ["tile", "tile reverse", "number", "number reverse"])
def tensor_copy_predicated(v, s, out, gen):
    if v.startswith("tile") and out[0] != s[0].dtype:
        return None
    before = store(np.ones(A, F), out[0])
    new = s[0].codes if v.startswith("tile") else store(np.full(A, F(2.5)), out[0])
    return [np.where((s[1].codes != 0) != v.endswith("reverse"), new, before)]


# ---- the Tensor engine ----------------------------------------------------------------------------------------------
MATMUL = ("float32", "bfloat16", "float16", "tfloat32", "float8_e4m3", "float8_e5m2")
WIDE = ("float32", "tfloat32")
FP8 = ("float8_e4m3", "float8_e5m2", "float8_e4m3fn")
DOTS = ("float32", "bfloat16", "float16", "float8_e4m3", "float8_e5m2")


def pair(a, b, gen):
    if gen < 4 and "float8_e4m3fn" in (a, b):
        return False
    return (a in WIDE) == (b in WIDE) and {a, b} != {"float8_e4m3", "float8_e4m3fn"}


def dot(a, b):
    """Rows of a times rows of b over the first axis, one product after the other."""
    r = np.zeros((a.shape[1], b.shape[1]), F)
    for k in range(a.shape[0]):
        r = r + a[k][:, None] * b[k][None, :]
    return canon(r)


def turned(data, out, gen):
    """is_transpose with an identity."""
    wide, narrow = data.dtype in WIDE, data.dtype in FP8
    if gen == 2:
        if out != "float32" and (wide or out != data.dtype):
            return None
        return [store(dot(data.x, np.eye(8, dtype=F)), out)]
    legal = F32 if wide else ("bfloat16", "float16") if narrow else (data.dtype,)
    return [data.codes.T.astype(raw(out))] if out in legal else None


@row("nc_matmul", lambda v: [((8, 16), "m", MATMUL + ("float8_e4m3fn",)),
                             *([((8, 8), "id", MATMUL + ("float8_e4m3fn",))] if v == "turned" else
                               [((8, 32), "n", MATMUL + ("float8_e4m3fn",))])],
     [DOTS], ["plain", "added", "double_row", "turned"])
def nc_matmul(v, s, out, gen):
    a, b = s
    if not pair(a.dtype, b.dtype, gen):
        return None
    if v == "turned":
        return turned(a, out[0], gen)
    if out[0] not in (("float32", "bfloat16") if gen == 4 else F32):
        return None
    if v == "double_row":
        if gen == 2 or a.dtype not in FP8 or b.dtype not in FP8:
            return None
        return [store(dot(a.x.reshape(16, 8), b.x.reshape(16, 16)), out[0])]
    r = dot(a.x, b.x)
    if v == "plain":
        return [store(r, out[0])]
    first = load(store(r, out[0]).reshape(-1), out[0]).reshape(r.shape)
    return [store(canon(first + r), out[0])]


def scaled(data, scale):
    """[32, n] containers as [128, n] numbers times their scales."""
    n = data.codes.shape[1]
    x = unpack(data.codes.reshape(-1), data.dtype).reshape(32, n, 4)
    with np.errstate(over="ignore"):
        k = np.where(scale.codes == 0xFF, np.nan, np.ldexp(1.0, scale.codes.astype(np.int32) - 127)).astype(F)
    return (x * np.repeat(k, 8, 0)[:, :, None]).transpose(0, 2, 1).reshape(128, n)


@row("nc_matmul_mx", [((32, 8), "x", PACK), ((32, 16), "y", PACK), ((4, 8), "xs", ("uint8", "float8_e8m0fnu")),
                      ((4, 16), "ys", ("uint8", "float8_e8m0fnu"))], [("float32", "bfloat16")], ["plain"])
def nc_matmul_mx(v, s, out, gen):
    return [store(dot(scaled(s[0], s[2]), scaled(s[1], s[3])), out[0])] if gen == 4 else None


def spread(x):
    """A product with an identity: what is not finite reaches its whole row."""
    out = x.copy()
    for r in out:
        bad = np.flatnonzero(~np.isfinite(r))
        if len(bad):
            keep = r[bad[0]] if len(bad) == 1 and np.isinf(r[bad[0]]) else None
            r[:] = NAN
            if keep is not None:
                r[bad[0]] = keep
    return out


@row("nc_transpose", [((8, 16), "m", ARITH)], [ARITH], ["vector", "tensor"])
def nc_transpose(v, s, out, gen):
    d = s[0].dtype
    if out[0] != d:
        return None
    if v == "vector":
        return [s[0].codes.T]
    if d not in MATMUL + (("float8_e4m3fn",) if gen == 4 else ()):
        return None
    if gen > 2 or d not in FLOAT:
        return [s[0].codes.T]
    rows = s[0].x.T
    whole = np.isfinite(rows).all(1, keepdims=True)
    return [np.where(whole, s[0].codes.T, store(spread(rows), d))]


# ---- element-wise ---------------------------------------------------------------------------------------------------
def wrapped(op, s, out):
    """32-bit integers on GpSimd."""
    r = ar.integers(op, s[0].codes, s[1].codes, s[0].dtype)
    return [r if out in ("int32", "uint32") else store(load(r, s[0].dtype), out)]


@row("tensor_tensor", [(A, "a", ARITH), (B, "b", ARITH)], [ARITH],
     [f"{op} vector" for op in VECTOR2 + BITS2] + [f"{op} gpsimd" for op in VECTOR2[:14]] + ["add unknown"])
def tensor_tensor(v, s, out, gen):
    op, engine = v.split()
    d = (s[0].dtype, s[1].dtype)
    if op in ar.GEN4 and gen < 4:
        return None
    if op in BITS2:
        return [bits(op, s[0].codes, s[1].codes)] if same_width(*d, out[0]) else None
    wide = ("int32", "uint32")
    if engine == "unknown":
        engine = "gpsimd" if all(x in wide for x in d + out) else "vector"
    if engine == "gpsimd" and d[0] == d[1] and d[0] in wide and not op.startswith("logical"):
        return wrapped(op, s, out[0])
    return [store(alu(op, s[0].x, s[1].x), out[0])]


SCALARS = [f"{op} column" for op in VECTOR2] + [f"{op} reverse" for op in VECTOR2]
SCALARS += [f"{op} one" for op in ("reciprocal", "abs", "logical_not", "square", "relu", "rsqrt")]
SCALARS += [f"{op} bits" for op in BITS2 + ("invert",)] + ["left_shift reverse_bits", "subtract any", "multiply any"]
SCALARS += ["multiply scalar", "add scalar", "subtract number", "multiply_add two", "subtract_multiply two_reverse",
            "bitwise_and_left_shift two_bits"]


def scalar_sources(v):
    kind = v.split()[1]
    own = ARITH if kind in ("any", "bits", "reverse_bits", "two_bits") else F32
    return [((8, 64), "a", ARITH), (C, "c", own)]


@row("tensor_scalar", scalar_sources, [ARITH], SCALARS)
def tensor_scalar(v, s, out, gen):
    op, kind = v.split()
    x, k, d = s[0].x, s[1].x, (s[0].dtype, s[1].dtype, out[0])
    if (op in ar.GEN4 and gen < 4) or (kind == "scalar" and gen == 2):
        return None
    if "bits" in kind:
        if not same_width(*(d if op != "invert" else (d[0], d[2]))):
            return None
        if kind == "two_bits":
            if d[0] == "bool_":  # 3 is none of its values
                return None
            return [bits("left_shift", bits("bitwise_and", s[0].codes, s[1].codes), np.full(1, 3, s[0].codes.dtype))]
        return [bits(op, s[0].codes, s[1].codes, kind == "reverse_bits")]
    if d[1] != "float32":
        return None
    if kind == "one":
        return [store(alu(op, x), out[0])]
    if kind == "number":
        return [store(alu(op, x, F(0.3)), out[0])]
    if kind == "two":
        return [store(alu("add", alu("multiply", x, k), F(-0.7)), out[0])]
    if kind == "two_reverse":
        return [store(alu("multiply", alu("subtract", x, k, True), F(3)), out[0])]
    return [store(alu(op, x, k, kind == "reverse"), out[0])]


@row("scalar_tensor_tensor", lambda v: [(A, "a", ARITH), (C, "c", ARITH if v == "subtract multiply" else F32),
                                        (B, "b", ARITH if v == "subtract multiply" else ("bfloat16",))],
     [ARITH], ["subtract multiply", "multiply add", "subtract subtract reverse", "maximum minimum", "less logical_and"])
def scalar_tensor_tensor(v, s, out, gen):
    op0, op1, *reverse = v.split()
    t = alu(op0, s[0].x, s[1].x, bool(reverse))
    return [store(alu(op1, t, s[2].x, bool(reverse)), out[0])]


@row("reciprocal", [(A, "a", ARITH)], [ARITH], ["plain"])
def reciprocal(v, s, out, gen):
    return [store(alu("reciprocal", s[0].x), out[0])]


@row("quantize_mx", [((32, 16), "q", ("bfloat16", "float16"))],
     [("float8_e5m2_x4", "float8_e4m3fn_x4"), ("uint8", "float8_e8m0fnu")], ["plain"])
def quantize_mx(v, s, out, gen):
    if gen < 4:
        return None
    emax = 8 if "e4m3" in out[0] else 15
    x = s[0].x.reshape(4, 8, 4, 4)
    most = np.abs(x).max((1, 3)).astype(np.float64)
    bad = ~np.isfinite(most)
    e = np.where((most > 0) & ~bad, np.frexp(np.where(bad, 1, most))[1] - emax, -127)
    e = np.maximum(e, -127)
    q = x * np.ldexp(1.0, np.where(bad, 0, -e)).astype(F)[:, None, :, None]
    return [pack(q.reshape(32, 16), out[0]).reshape(32, 4), np.where(bad, 0xFF, e + 127).astype(np.uint8)]


# ---- the Scalar engine ----------------------------------------------------------------------------------------------
PLAIN_ACTS, RANGED = ("copy", "square", "relu", "abs", "sign"), ("sqrt", "rsqrt", "reciprocal")
NO_TF32 = tuple(d for d in ARITH if d != "tfloat32")


def act(name, x):
    return canon(ar.ACTS[name](x).astype(F))


def act_sources(v):
    op, *kind = v.split()
    data = [(A, "s" if op in RANGED else "a", ARITH)]
    if "bias" in kind:
        data.append((C, "c", NO_TF32))
    return data


@row("activation", act_sources, [ARITH], list(PLAIN_ACTS + RANGED) + ["copy bias", "relu bias scale"])
def activation(v, s, out, gen):
    op, *kind = v.split()
    x = s[0].x
    if kind:
        x = x * F(1.7) if "scale" in kind else x
        x = x + s[1].x
    return [store(act(op, x), out[0])]


@row("activation_reduce", act_sources, [ARITH, ARITH], ["copy", "square", "copy bias"])
def activation_reduce(v, s, out, gen):
    r = act(v.split()[0], s[0].x + s[1].x if "bias" in v else s[0].x)
    return [store(r, out[0]), store(accumulated("add", r), out[1])]


NARROW2 = ("float32", "bfloat16", "float16")


@row("activate2", lambda v: [(A, "a", ARITH), (C, "c", NARROW2), (C, "p", NARROW2)], [ARITH, ARITH],
     ["copy multiply add add", "prelu multiply subtract maximum", "relu subtract bypass minimum reverse0",
      "abs multiply add abs_max", "copy add bypass abs_min"])
def activate2(v, s, out, gen):
    op, op0, op1, reduce, *flags = v.split()
    if gen < 4 or (op1 != "bypass" and s[1].dtype != s[2].dtype):
        return None
    t = alu(op0, s[0].x, s[1].x, "reverse0" in flags)
    t = t if op1 == "bypass" else alu(op1, t, s[2].x)
    r = canon(np.where(t > 0, t, F(0.25) * t)) if op == "prelu" else act(op, t)
    return [store(r, out[0]), store(accumulated(reduce, r), out[1])]


# ---- reductions, scans, statistics ----------------------------------------------------------------------------------
FOLDS = ("add", "subtract", "multiply", "maximum", "minimum", "logical_and", "logical_or", "logical_xor")


@row("tensor_reduce", [(A, "a", ARITH)], [ARITH],
     list(FOLDS) + ["bitwise_and", "bitwise_or", "bitwise_xor", "add negate", "maximum inner"])
def tensor_reduce(v, s, out, gen):
    op, *kind = v.split()
    if op in ar.BITS:
        return [ar.BITS[op].reduce(s[0].codes, 1)] if same_width(s[0].dtype, out[0]) else None
    x = s[0].x.reshape(-1, 8) if "inner" in kind else s[0].x
    r = reduced(op, x)
    return [store(canon(-r) if "negate" in kind else r, out[0])]


@row("tensor_partition_reduce", [(A, "a", ARITH)], [ARITH],
     ["add", "maximum", "average", "bitwise_or", "bitwise_and"])
def tensor_partition_reduce(v, s, out, gen):
    if v in ar.BITS:
        return [ar.BITS[v].reduce(s[0].codes, 0)] if same_width(s[0].dtype, out[0]) else None
    r = s[0].x[0]
    for p in range(1, 8):
        r = alu("maximum" if v == "maximum" else "add", r, s[0].x[p])
    return [store(canon(r / F(8)) if v == "average" else r, out[0])]


@row("tensor_tensor_scan", lambda v: [(A, "a", ARITH), (B, "b", ARITH if v == "multiply add" else F32),
                                      (C, "c", ARITH if v == "multiply add" else F32)], [ARITH],
     ["multiply add", "subtract maximum", "add subtract reverse", "logical_xor minimum"])
def tensor_tensor_scan(v, s, out, gen):
    op0, op1, *reverse = v.split()
    key = (v, s[0].dtype, s[1].dtype, s[2].dtype)
    if key not in SCANS:
        SCANS.clear()
        r, rows = s[2].x[:, 0], []
        for i in range(64):
            t = alu(op0, s[0].x[:, i], r, bool(reverse))
            r = alu(op1, t, s[1].x[:, i], bool(reverse))
            rows.append(r)
        SCANS[key] = np.stack(rows, 1)
    return [store(SCANS[key], out[0])]


SCANS = {}


@row("tensor_scalar_reduce", [(A, "a", ARITH), (C, "c", F32)], [ARITH, ARITH],
     ["add add", "multiply maximum", "subtract minimum negate", "less add load", "abs multiply", "maximum multiply"])
def tensor_scalar_reduce(v, s, out, gen):
    op, reduce, *kind = v.split()
    r = alu(op, s[0].x, s[1].x)
    total = accumulated(reduce, r, s[1].x if "load" in kind else None)
    return [store(r, out[0]), store(canon(-total) if "negate" in kind else total, out[1])]


CUMULATED = tuple(d for d in ARITH if d not in ("tfloat32", "int32", "uint32", "bool_"))


@row("tensor_scalar_cumulative", [(A, "a", CUMULATED), (C, "c", F32)], [CUMULATED],
     ["add add", "multiply subtract", "subtract multiply load", "multiply maximum", "abs minimum", "add add chained"])
def tensor_scalar_cumulative(v, s, out, gen):
    op, op1, *kind = v.split()
    x = alu(op, s[0].x, s[1].x)
    r = s[1].x[:, 0] if "load" in kind else np.full(8, F(ar.IDENTITY.get(op1, 0.0)))
    for _ in range(2 if "chained" in kind else 1):
        rows = []
        for i in range(64):
            r = alu(op1, x[:, i], r)
            rows.append(r)
    return [store(np.stack(rows, 1), out[0])]


def half_stats(x):
    n = F(x.shape[1])
    mean = canon(alu("add", np.zeros((8, 1), F), ar.fold(x, F(0), ar.ALU2["add"])) / n)
    d = canon(x - mean)
    squares = ar.fold(canon(d * d), F(0), ar.ALU2["add"])
    return [np.full((8, 1), n), mean, canon(squares)]


@row("bn_stats", [(A, "a", ARITH)], [ARITH], ["plain"])
def bn_stats(v, s, out, gen):
    return [store(np.concatenate(half_stats(s[0].x[:, ::2]) + half_stats(s[0].x[:, 1::2]), 1), out[0])]


@row("bn_aggr", [((8, 63), "bn", ARITH)], [ARITH], ["plain"])
def bn_aggr(v, s, out, gen):
    t = s[0].x.reshape(8, 21, 3)
    count = total = m2 = np.zeros(8, F)
    for i in range(21):
        count, total = count + t[:, i, 0], total + t[:, i, 0] * t[:, i, 1]
    mean = total / count
    for i in range(21):
        d = t[:, i, 1] - mean
        m2 = m2 + (t[:, i, 2] + t[:, i, 0] * (d * d))
    return [store(canon(np.stack([mean, m2 / count], 1)), out[0])]


ROWS.update(selections.ROWS)
