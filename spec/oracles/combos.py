"""combos.py -- what every instruction computes for every legal combination of dtypes: inputs and checksums.

numbers_pool.npz  codes of each dtype: edge values in all ordered pairs, then random ones (a, b), and inputs of a kind
numbers.txt       "= instruction variant | targets", then a line per combination of the sources' dtypes with a checksum
                  of its marks: a checksum of the results for every combination of the outs' dtypes, "----" where that
                  is refused. `combos.py INSTRUCTION VARIANT DTYPES` prints the marks.

instructions.py has a function per instruction. The dtypes that each parameter may have are written down there.
"""
import itertools
import sys

import ml_dtypes as md
import numpy as np

G = np.uint64(0x9E3779B97F4A7C15)
TARGETS = ("trn1", "trn2", "trn3")
INTS = {"bool_": np.uint8, "uint8": np.uint8, "int8": np.int8, "uint16": np.uint16, "int16": np.int16,
        "uint32": np.uint32, "int32": np.int32}
NARROW = {"bfloat16": md.bfloat16, "float16": np.float16, "float8_e4m3": md.float8_e4m3,
          "float8_e5m2": md.float8_e5m2, "float8_e4m3fn": md.float8_e4m3fn}
FLOAT = ("float32", "bfloat16", "float16", "tfloat32", "float8_e4m3", "float8_e5m2", "float8_e4m3fn")
INT = tuple(INTS)
ARITH = INT + FLOAT
PACK = ("float8_e5m2_x4", "float8_e4m3fn_x4", "float4_e2m1fn_x4")
ANY = ARITH + ("float8_e8m0fnu",) + PACK
RAW = {"float8_e8m0fnu": np.uint8, "float8_e5m2_x4": np.uint32, "float8_e4m3fn_x4": np.uint32,
       "float4_e2m1fn_x4": np.uint16, "float32": np.uint32, "tfloat32": np.uint32}
NAN = np.uint32(0x7FC00000).view(np.float32)


def raw(dtype):
    """The unsigned type as wide as dtype."""
    if dtype in RAW:
        return RAW[dtype]
    size = np.dtype(INTS.get(dtype) or NARROW[dtype]).itemsize
    return {1: np.uint8, 2: np.uint16, 4: np.uint32}[size]


def canon(x):
    return np.where(np.isnan(x), NAN, x).astype(np.float32)


def load(codes, dtype):
    """The codes as float32."""
    if dtype == "bool_":
        return (codes != 0).astype(np.float32)
    if dtype in INTS:
        return codes.view(INTS[dtype]).astype(np.float32)
    if dtype in NARROW:
        return codes.view(NARROW[dtype]).astype(np.float32)
    return codes.view(np.float32)


def to_tf32(x):
    u = x.view(np.uint32).astype(np.uint64)
    r = ((u + 0xFFF + ((u >> np.uint64(13)) & np.uint64(1))) & np.uint64(0xFFFFE000)).astype(np.uint32)
    return np.where(np.isnan(x), (x.view(np.uint32) & np.uint32(0x80000000)) | np.uint32(0x7FC00000), r)


def store(x, dtype):
    """float32 as codes of dtype."""
    x = np.ascontiguousarray(x, np.float32)
    if dtype == "bool_":
        return ((x != 0) | np.isnan(x)).astype(np.uint8)
    if dtype in INTS:
        info = np.iinfo(INTS[dtype])
        y = np.rint(x.astype(np.float64))
        return np.where(np.isnan(y), 0, np.clip(y, info.min, info.max)).astype(np.int64).astype(raw(dtype))
    if dtype in NARROW:
        return x.astype(NARROW[dtype]).view(raw(dtype))
    return to_tf32(x) if dtype == "tfloat32" else x.view(np.uint32)


def copy(codes, dtype, to):
    """What a move does: nothing to the bits of equal dtypes, else through float32; packed and scale types only to
    themselves."""
    if dtype == to:
        return codes
    return store(load(codes, dtype), to) if dtype in ARITH and to in ARITH else None


# ---- inputs ---------------------------------------------------------------------------------------------------------
EDGES = {
    "bool_": [0, 1], "uint8": [0, 1, 2, 3, 5, 7, 127, 128, 200, 254, 255],
    "uint16": [0, 1, 2, 3, 255, 256, 2049, 32767, 32768, 65504, 65535],
    "int8": [0, 1, -1, 2, -3, 5, 64, 127, -127, -128],
    "int16": [0, 1, -1, 2, -3, 255, -257, 2049, 32767, -32767, -32768],
    "uint32": [0, 1, 2, 3, 255, 2**24 - 1, 2**24, 2**24 + 1, 2**24 + 3, 2**31 - 1, 2**31, 2**31 + 129, 2**32 - 2,
               2**32 - 1],
    "int32": [0, 1, -1, 2, -3, 255, 2**24 - 1, 2**24 + 1, -(2**24) - 1, 2**24 + 3, 2**31 - 1, -(2**31) + 1, -(2**31)],
}
FLOAT_EDGES = np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 0.5, 2.5, -1.5, 3.0, 3.4028235e38, -3.4028235e38,
                        1e-45, 16777218.0, -1e-40], np.float32)
LIMITS = {"float16": [65504, -65504, 6e-8, 2049], "bfloat16": [3.3895314e38, -3.3895314e38, 1e-40, 257],
          "float8_e4m3": [240, -240, 2**-9, 17], "float8_e5m2": [57344, -57344, 2**-16, 7],
          "float8_e4m3fn": [448, -448, 2**-9, 17]}


def edges(dtype):
    if dtype in EDGES:
        return np.array(EDGES[dtype], np.int64).astype(raw(dtype))
    if dtype in ARITH:
        x = FLOAT_EDGES.copy()
        if dtype in LIMITS:
            x[11:15] = LIMITS[dtype]
        return store(x, dtype)
    return np.array([0, 1, 0x7F, 0x80, 0xFF], raw(dtype))


def random_codes(rng, dtype, n):
    """Half of them any code, half of a size where results are not all 0 or infinite."""
    codes = rng.integers(0, np.iinfo(raw(dtype)).max, n, np.uint64, True).astype(raw(dtype))
    if dtype == "bool_":
        return codes & 1
    if dtype in FLOAT:
        codes[::2] = store((rng.integers(-64, 65, n) / 8.0).astype(np.float32), dtype)[::2]
    elif dtype in INT:
        codes[::2] = store(rng.integers(-9 if INTS[dtype]().dtype.kind == "i" else 0, 100, n).astype(np.float32),
                           dtype)[::2]
    if dtype == "tfloat32":
        codes &= np.uint32(0xFFFFE000)
    return codes


def numbers(values, dtype):
    return store(np.asarray(values, np.float32), dtype)


def kinds(rng, dtype):
    """Inputs of a kind for one numeric dtype."""
    small = rng.integers(-4, 5, 8 * 32).astype(np.float32)
    stationary, moving = small[:128].copy(), small[::-1].copy()
    if dtype in FLOAT:
        stationary[5], moving[7], moving[40] = np.nan, np.inf, -np.inf
    ramp = np.linspace(1.0 if dtype in INT else 0.02, 1.5, 512).astype(np.float32)
    stats = np.stack([rng.integers(1, 9, 168), rng.integers(-5, 6, 168) / 2, rng.integers(0, 30, 168) / 4], 1)
    stats[:21, 0] = 0
    return {"c": numbers([1, -2.5, 0.5, 3, 0, 100, -0.0, 2], dtype), "s": numbers(ramp, dtype),
            "m": numbers(stationary, dtype), "n": numbers(moving, dtype), "id": numbers(np.eye(8).reshape(-1), dtype),
            "r": numbers(ramp[::8], dtype), "one": numbers([-7 if dtype in ("int8", "int16", "int32") else 4294967295], dtype), "p": numbers([0, 1, 0.5, 0.25, 0.75, 0.1, 0.9, 0.3], dtype),
            "bn": numbers(stats.reshape(-1), dtype)}


def pool_of(dtype, rng):
    e = edges(dtype)
    grid_a, grid_b = np.repeat(e, len(e)), np.tile(e, len(e))
    out = {}
    for name, grid in (("a", grid_a), ("b", grid_b)):
        codes = random_codes(rng, dtype, 512)
        codes[:len(grid)] = grid
        out[name] = codes
    out["e"] = np.concatenate([np.resize(e, 16), out["a"][-48:]])
    out["v"] = out["a"].reshape(8, 64)[:, [0, 5, 5, 17, 33, 33, 62, 63]].reshape(-1).copy()
    out["v"][::9] = out["b"][300:364:9][:len(out["v"][::9])]
    return out


PACKED = {"float8_e4m3fn_x4": (md.float8_e4m3fn, 8), "float8_e5m2_x4": (md.float8_e5m2, 8),
          "float4_e2m1fn_x4": (md.float4_e2m1fn, 4)}


def pack(x, dtype):
    """Numbers as containers of four, the first lowest."""
    kind, bits = PACKED[dtype]
    codes = x.astype(np.float32).astype(kind).view(np.uint8).reshape(-1, 4).astype(np.uint32)
    return (codes << (np.arange(4, dtype=np.uint32) * np.uint32(bits))).sum(1).astype(raw(dtype))


def unpack(codes, dtype):
    kind, bits = PACKED[dtype]
    parts = codes.reshape(-1, 1).astype(np.uint32) >> (np.arange(4, dtype=np.uint32) * np.uint32(bits))
    return (parts & np.uint32(2**bits - 1)).astype(np.uint8).view(kind).astype(np.float32).reshape(-1)


# Elements that each of four ranks sends to each, where in its 512 they begin, those it receives, and where in its 512
# they go (in the order of the senders). Of all_gather_v the first column counts.
SENT = np.array([[128, 3, 0, 60], [1, 128, 7, 0], [0, 5, 64, 128], [17, 0, 2, 31]])
COUNTS = np.stack([SENT, [[384, 0, 512, 452], [5, 100, 505, 0], [9, 200, 448, 0], [31, 7, 510, 64]], SENT.T,
                   [[0, 200, 400, 480], [300, 10, 0, 512], [500, 450, 0, 100], [400, 0, 128, 300]]],
                  1).astype(np.uint32)


def pools():
    out = {}
    rng = np.random.Generator(np.random.PCG64(20240607))

    def put(name, dtype, codes):
        out[f"{name}_{dtype}"] = codes.reshape(-1)

    for dtype in ANY:
        for name, codes in pool_of(dtype, rng).items():
            put(name, dtype, codes)
        for name, codes in (kinds(rng, dtype) if dtype in ARITH else {}).items():
            put(name, dtype, codes)
    for dtype in PACK:
        put("x", dtype, pack(rng.choice([0, 1, -1, 2, -3, 0.5, 4, -6], 32 * 8 * 4), dtype))
        put("y", dtype, pack(rng.choice([0, 1, -1, 2, -3, 0.5, 4, -6], 32 * 16 * 4), dtype))
    for name, n in (("xs", 32), ("ys", 64)):
        scale = rng.integers(125, 130, n).astype(np.uint8)
        scale[9] = 0xFF
        for dtype in ("uint8", "float8_e8m0fnu"):
            put(name, dtype, scale)
    wide = rng.standard_normal(512) * 2.0 ** rng.integers(-20, 12, 512)
    wide[:64:5], wide[70], wide[90], wide[130:131] = 0, np.inf, np.nan, -0.0
    wide = wide.reshape(32, 16)
    wide[8:16, 8:12] = 0
    wide[16:24] *= 2.0**-14
    for dtype in ("float16", "bfloat16"):
        put("q", dtype, store(wide, dtype))
    put("ix", "uint32", rng.integers(0, 64, 512).astype(np.uint32))
    put("lg", "uint16", rng.integers(0, 29, 32).astype(np.uint16))
    ids = np.repeat([0, 3, 3, 1, 0, 7, 16777217, 16777216, 2, 0], [3, 2, 9, 1, 1, 20, 5, 6, 14, 3])
    put("ids", "int32", ids.astype(np.int32).view(np.uint32))
    put("ids", "float32", store(ids.astype(np.float32), "float32"))
    for dtype in ("uint32", "int32", "float32"):
        put("seed", dtype, numbers([12345.0], dtype))
    put("ct", "uint32", COUNTS.reshape(-1))
    put("st6", "uint32", rng.integers(0, 2**32, 48, np.uint64).astype(np.uint32))
    put("st24", "uint32", rng.integers(0, 2**32, 192, np.uint64).astype(np.uint32))
    return out


# ---- the text -------------------------------------------------------------------------------------------------------
class Tensor:
    def __init__(self, codes, dtype):
        self.codes, self.dtype, self._f32 = codes, dtype, None

    @property
    def x(self):
        """As float32."""
        if self._f32 is None:
            self._f32 = load(self.codes.reshape(-1), self.dtype).reshape(self.codes.shape)
        return self._f32


class Row:
    """An instruction: sources are (shape, pool, dtypes), outs are dtypes. A source without dtypes has those of the first.
    f(variant, sources, dtypes of outs, gen) returns the codes of each out, or None where that is refused."""

    def __init__(self, sources, outs, variants, f):
        self.sources, self.outs, self.variants, self.f = sources, outs, variants, f


def checksum(arrays):
    data = b"".join(np.ascontiguousarray(a).tobytes() for a in arrays)
    data += b"\0" * (-len(data) % 32)
    w = np.frombuffer(data, np.uint64)
    index = np.arange(1, w.size + 1, dtype=np.uint64)  # no factor is 1: the first word counts like the others
    total = ((w + np.uint64(1)) * ((index * G) | np.uint64(1))).sum(dtype=np.uint64)
    return f"{int(total) >> 32:08x}"


def out_dtypes(row, variant):
    """Every combination of the outs' dtypes. With two outs only the first variant has them all; the others let one out
    have any dtype while the other has its first."""
    for outs in itertools.product(*row.outs):
        if variant == row.variants[0] or sum(d != row.outs[i][0] for i, d in enumerate(outs)) < 2:
            yield outs


class Gen(int):
    """A generation that knows whether anybody asked."""

    asked = False

    def __lt__(self, other):
        Gen.asked = True
        return int(self) < other

    def __gt__(self, other):
        Gen.asked = True
        return int(self) > other

    def __eq__(self, other):
        Gen.asked = True
        return int(self) == other

    __hash__ = int.__hash__


def lines(row, variant, gen, data, cache, digest=True):
    out = []
    sources = row.sources(variant) if callable(row.sources) else row.sources
    for dtypes in itertools.product(*(s[2] for s in sources if s[2])):
        tensors, given = [], iter(dtypes)
        for shape, pool, own in sources:
            dtype = next(given) if own else dtypes[0]
            key = (shape, pool, dtype)
            if key not in cache:
                cache[key] = Tensor(data[f"{pool}_{dtype}"].reshape(shape), dtype)
            tensors.append(cache[key])
        marks = []
        for outs in out_dtypes(row, variant):
            result = row.f(variant, tensors, outs, gen)
            marks.append("----" if result is None else checksum(result)[:4])
        if any(m != "----" for m in marks):
            marks = "".join(marks)
            out.append(",".join(dtypes) + " " + (checksum([np.frombuffer(marks.encode(), np.uint8)]) if digest else marks))
    return out


def text(data, only=None):
    import instructions

    out, cache = [], {}
    for name, row in instructions.ROWS.items():
        if only and name not in only:
            continue
        for variant in row.variants:
            by_lines, found = {}, None
            Gen.asked = False
            for gen, target in zip((2, 3, 4), TARGETS):
                if found is None or Gen.asked:
                    found = lines(row, variant, Gen(gen), data, cache)
                if found:
                    by_lines.setdefault("\n".join(found), []).append(target)
            for body, targets in by_lines.items():
                out.append(f"= {name} {variant} | {' '.join(targets)}\n{body}\n")
    return "".join(out)


def files():
    """The .npz files, and the text."""
    import near

    with np.errstate(all="ignore"):
        data = pools()
        arrays = {"numbers_pool.npz": data, "numbers.near.npz": near.values(data)}
        return arrays, {"numbers.txt": text(data).encode()}


def main():
    from instructions import ROWS

    name, variant, dtypes = sys.argv[1:4]
    np.seterr(all="ignore")
    for gen in (2, 3, 4):
        for line in lines(ROWS[name], variant, gen, pools(), {}, digest=False):
            if line.startswith(dtypes + " "):
                print(f"gen{gen}", line)


if __name__ == "__main__":
    main()
