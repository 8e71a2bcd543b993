"""selections.py -- the other half of instructions.py: patterns, selections, searches, gathers, random numbers."""
import numpy as np

import arithmetic as ar
from arithmetic import F, accumulated, alu
from combos import ANY, ARITH, FLOAT, INT, NAN, Row, canon, copy, load, raw, store

ROWS = {}
A, C = (8, 64), (8, 1)
BOUND = F(-3.4028234663852886e38)


def row(name, sources, outs, variants):
    def add(f):
        ROWS[name] = Row(sources, outs, variants, f)
        return f
    return add


def pattern(steps, offset, multiplier):
    """steps: (step, count), slowest first."""
    v = np.zeros(1, np.int64)
    for step, count in reversed(steps):
        v = (np.arange(count)[:, None] * step + v[None, :]).reshape(-1)
    return offset + np.arange(8)[:, None] * multiplier + v[None, :]


PATTERNS = {"small": ([(1, 64)], 0, 64), "steps": ([(-100, 4), (7, 16)], 300, -3), "wide": ([(33554431, 64)], -9, 1)}


@row("iota", [], [ARITH], list(PATTERNS))
def iota(v, s, out, gen):
    p = pattern(*PATTERNS[v]).astype(np.int32)
    return [p.view(np.uint32) if out[0] in ("int32", "uint32") else store(p.astype(F), out[0])]


@row("affine_select", [(A, "a", ARITH)], [ARITH],
     ["equal", "not_equal", "greater_equal", "greater", "less_equal", "less"])
def affine_select(v, s, out, gen):
    keep = ar.ALU2[v](pattern([(-1, 64)], 9, 5), 0)
    other = store(np.full(A, F(-2.5)), out[0])
    return [np.where(keep, copy(s[0].codes, s[0].dtype, out[0]), other)]


@row("range_select", [(A, "a", FLOAT), (C, "c", ("float32",)), (C, "c", ("float32",))], [ARITH, FLOAT],
     ["greater less_equal", "greater_equal less", "equal greater"])
def range_select(v, s, out, gen):
    if gen < 3:
        return None
    a, b = v.split()
    i = (np.arange(64) - 1).astype(F)[None, :]
    keep = ar.ALU2[a](i, s[1].x) & ar.ALU2[b](i, s[2].x)
    r = np.where(keep, s[0].x, BOUND)
    return [store(r, out[0]), store(accumulated("maximum", r), out[1])]


SELECTED = tuple(d for d in ARITH if d not in ("tfloat32", "int32", "uint32"))


@row("select_reduce", [(A, "b", ("uint8", "int8", "uint16", "int16")), (A, "a", SELECTED), (C, "c", ("float32",))],
     [ARITH, FLOAT], ["plain", "reverse"])
def select_reduce(v, s, out, gen):
    r = np.where((s[0].codes != 0) != (v == "reverse"), s[1].x, s[2].x)
    return [store(r, out[0]), store(accumulated("maximum", r), out[1])]


# ---- searches -------------------------------------------------------------------------------------------------------
def rank(x):
    """Integers in the order of maximum: NaN above all, -0 below +0."""
    b = x.view(np.uint32)
    return np.where(np.isnan(x), np.uint32(0xFFFFFFFF), np.where(b >> 31, ~b, b | np.uint32(0x80000000))).astype(np.int64)


@row("max8", [(A, "a", ARITH)], [ARITH], ["plain"])
def max8(v, s, out, gen):
    order = np.argsort(-rank(s[0].x), axis=1, kind="stable")[:, :8]
    return [store(np.take_along_axis(s[0].x, order, 1), out[0])]


def occurrences(data, vals, order):
    """Index of the element that each value takes, in that order of values; -1."""
    at = np.full(vals.shape, -1, np.int64)
    for p in range(len(data)):
        free = np.ones(data.shape[1], bool)
        for k in order:
            hits = np.flatnonzero((data[p] == vals[p, k]) & free)
            if len(hits):
                at[p, k] = hits[0]
                free[hits[0]] = False
    return at


@row("nc_find_index8", [(A, "a", ARITH), ((8, 8), "v", ARITH)], [("uint16", "uint32")], ["plain"])
def nc_find_index8(v, s, out, gen):
    return [occurrences(s[0].x, s[1].x, range(8)).astype(raw(out[0]))]


@row("nc_match_replace8", [(A, "a", ARITH), ((8, 8), "v", ARITH)], [ARITH, ("uint16", "uint32")], ["2.0", "-1000.5"])
def nc_match_replace8(v, s, out, gen):
    at = occurrences(s[0].x, s[1].x, range(7, -1, -1))
    r = copy(s[0].codes, s[0].dtype, out[0]).copy()
    imm = store(np.full(1, F(float(v))), out[0])
    for p in range(8):
        r[p, at[p][at[p] >= 0]] = imm[0]
    return [r, at.astype(raw(out[1]))]


@row("nc_stream_shuffle", [((32, 16), "a", ANY)], [ANY], ["plain"])
def nc_stream_shuffle(v, s, out, gen):
    d = s[0].dtype
    if out[0] != d or (gen < 4 and d not in ARITH) or d == "float8_e8m0fnu":
        return None  # 0 is no scale: memset refuses it
    i = np.arange(32)
    return [np.where((i % 7 == 3)[:, None], 0, s[0].codes[(i * 11 + 5) % 32]).astype(raw(d))]


@row("nc_n_gather", [(A, "a", ANY), (A, "ix", ("uint32",))], [ANY], ["plain"])
def nc_n_gather(v, s, out, gen):
    if out[0] != s[0].dtype or (gen < 4 and out[0] not in ARITH):
        return None
    return [np.take_along_axis(s[0].codes, s[1].codes.astype(np.int64), 1)]


@row("local_gather", [((16, 32), "a", ANY), ((16, 2), "lg", ("uint16",))], [ANY], ["plain"])
def local_gather(v, s, out, gen):
    if out[0] != s[0].dtype or (gen < 4 and out[0] not in ARITH):
        return None
    at = s[1].codes.T.reshape(-1)[:20].astype(np.int64)
    return [s[0].codes[:, (at[:, None] + np.arange(4)).reshape(-1)]]


@row("sequence_bounds", [((1, 64), "ids", ("int32", "float32"))], [("int32", "float32")], ["plain"])
def sequence_bounds(v, s, out, gen):
    ids = s[0].codes[0].view(np.int32).astype(np.float64) if s[0].dtype == "int32" else s[0].x[0].astype(np.float64)
    edge = np.flatnonzero(np.r_[True, ids[1:] != ids[:-1], True])
    run = np.searchsorted(edge, np.arange(64), "right") - 1
    start, end = np.where(ids == 0, 64, edge[run]), np.where(ids == 0, -1, edge[run + 1])
    return [store(np.stack([start, end]).astype(F), out[0])]


@row("nonzero_with_count", [((32, 16), "a", ("int32", "float32"))], [("int32",)], ["plain"])
def nonzero_with_count(v, s, out, gen):
    if gen < 3:
        return None
    r = np.full((32, 17), 7, np.int32)
    for p in (0, 16):
        x = s[0].codes[p].view(np.int32) if s[0].dtype == "int32" else s[0].x[p]
        at = np.flatnonzero(x != 0)
        r[p] = -5
        r[p, :len(at)], r[p, 16] = at + 100, len(at)
    return [r]


@row("topk", [((16, 32), "a", ("bfloat16",))], [("bfloat16",), ("uint32",)], ["200", "512"])
def topk(v, s, out, gen):
    x = s[0].x.T.reshape(-1)[:int(v)].copy()
    best = np.argsort(-rank(x), kind="stable")[:12][::-1]
    return [store(np.tile(x[best], (16, 1)), "bfloat16"), np.tile(best.astype(np.uint32), (16, 1))]


# ---- random numbers, registers --------------------------------------------------------------------------------------
@row("set_rng_seed", [((1, 1), "seed", ("uint32", "int32", "float32"))], [("uint32",)], ["plain"])
def set_rng_seed(v, s, out, gen):
    return [ar.Generators("vector", 4 if gen == 4 else 2, int(s[0].codes[0, 0])).draw(64)]


def seeded(engine, gen):
    g = ar.Generators(engine, 4 if gen == 4 else 2, 4000000007)
    if engine == "gpsimd":
        g.st = (1000003 * np.arange(1, 9)[:, None, None] + 77777 * np.arange(6)).astype(np.uint32)
    return g


@row("rng", [], [tuple(d for d in INT if d != "bool_")], ["vector", "gpsimd"])
def rng(v, s, out, gen):
    if v == "gpsimd" and gen < 3:
        return None
    return [seeded(v, gen).draw(64).astype(raw(out[0]))]


@row("rand2", [(C, "c", ("float32",)), (C, "p", ("float32",))],
     [tuple(d for d in ARITH if d not in ("tfloat32", "bool_"))], ["columns", "numbers"])
def rand2(v, s, out, gen):
    if gen < 4:
        return None
    lo, hi = (F(-3), F(100)) if v == "numbers" else (s[0].x, s[1].x)
    u = ar.unit(seeded("vector", 4).draw(64))
    return [store(alu("add", u * (hi - lo), np.broadcast_to(lo, A)), out[0])]


@row("dropout", [(A, "a", ARITH), (C, "p", ("float32", "bfloat16", "float16"))], [ARITH], ["column", "number"])
def dropout(v, s, out, gen):
    d = s[0].dtype
    if out[0] != d or (v == "column" and d in INT and s[1].dtype != "float32"):
        return None
    u = ar.unit(ar.Generators("vector", 4 if gen == 4 else 2).draw(64))
    return [np.where(u >= (F(0.375) if v == "number" else s[1].x), s[0].codes, 0).astype(raw(d))]


def states(v, s, out, gen):
    vector = v.startswith("vector")
    if gen < (4 if vector else 3):
        return None
    if "first" in v:
        return [ar.Generators(v.split()[0], 4).st.reshape(8, -1)]
    if "drawn" not in v:
        return [s[0].codes]
    g = ar.Generators("gpsimd", gen)
    g.st = s[0].codes.reshape(8, -1, 6).copy()
    words = g.draw(10)
    return [g.st.reshape(8, -1), words]


for NAME in ("rand_set_state", "rand_get_state"):
    row(NAME, lambda v: [((8, 24), "st24", ("uint32",)) if v.startswith("vector") else ((8, 6), "st6", ("uint32",))],
        [("uint32",)], ["gpsimd", "vector", "gpsimd drawn", "vector drawn", "gpsimd first", "vector first"])(states)


def through_register(v, s, out, gen):
    n = int(s[0].codes[0, 0] if s[0].dtype in ("bool_", "uint8", "uint16", "uint32", "float32") else
            s[0].codes[0, 0].view(ar.INTS[s[0].dtype]))
    return [np.array([[n != 0 if out[0] == "bool_" else n & 0xFFFFFFFF]], np.uint32).astype(raw(out[0]))]


for NAME in ("register_load", "register_move", "register_store"):
    row(NAME, [((1, 1), "one", INT + ("float32",) * (NAME == "register_load"))],
        [INT + ("float32",) * (NAME == "register_store")], ["plain"])(through_register)


# ---- functions no instruction does ----------------------------------------------------------------------------------
@row("sim_binary", [(A, "a", ARITH), (A, "b", ARITH)], [ARITH], ["divide", "mod", "fmod"])
def sim_binary(v, s, out, gen):
    return [store(alu(v, s[0].x, s[1].x), out[0])]


@row("sim_unary", [(A, "a", ARITH)], [ARITH], ["ceil", "floor", "trunc"])
def sim_unary(v, s, out, gen):
    return [store(canon(getattr(np, v)(s[0].x)), out[0])]


# ---- between four ranks: pool a on the first and the last, pool b on the others --------------------------------------
REDUCTIONS = ["add", "minimum", "maximum"]


def by_rank(name, dtypes, variants):
    """f(variant, the ranks' tensors, dtype) returns what each rank gets; no dtype changes."""
    def add(f):
        def g(v, s, out, gen):
            if out[0] != s[0].dtype or (gen < 4 and out[0] not in ARITH):
                return None
            return f(v, [s[0], s[1], s[1], s[0]], out[0])
        ROWS[name] = Row([(A, "a", dtypes), (A, "b", None)], [dtypes], variants, g)
        return f
    return add


def combined(v, ranks, order):
    r = ranks[order[0]].x
    for k in order[1:]:
        r = alu(v, r, ranks[k].x)
    return r


@by_rank("all_reduce", ARITH, REDUCTIONS)
def all_reduce(v, ranks, dtype):
    return [store(combined(v, ranks, range(4)), dtype)] * 4


@by_rank("reduce_scatter", ARITH, REDUCTIONS)
def reduce_scatter(v, ranks, dtype):
    return np.split(store(combined(v, ranks, range(4)), dtype), 4)


@by_rank("all_gather", ANY, ["plain"])
def all_gather(v, ranks, dtype):
    return [np.concatenate([t.codes for t in ranks])] * 4


@by_rank("all_to_all", ANY, ["plain"])
def all_to_all(v, ranks, dtype):
    order = (2, 0, 3, 1)
    return [np.concatenate([np.split(ranks[s].codes, 4)[order.index(r)] for s in order]) for r in range(4)]


@by_rank("collective_permute", ANY, ["plain"])
def collective_permute(v, ranks, dtype):
    return [ranks[s].codes for s in (1, 3, 0, 2)]


BEFORE = (1, 3, 0, 2)  # in the ring 3, 1, 0, 2


@by_rank("collective_permute_implicit", ANY, ["plain"])
def collective_permute_implicit(v, ranks, dtype):
    return [ranks[s].codes for s in BEFORE]


@by_rank("collective_permute_implicit_reduce", ARITH, REDUCTIONS)
def collective_permute_implicit_reduce(v, ranks, dtype):
    return [store(alu(v, ranks[s].x, ranks[s].x), dtype) for s in BEFORE]


def by_counts(name, variants, least):
    """f(i, r) returns where the elements for rank r begin in what rank i has, and how many there are."""
    def add(f):
        def g(v, s, out, gen):
            dtype = s[0].dtype
            if out[0] != dtype or gen < (4 if v == "displaced" else least) or (gen < 4 and dtype not in ARITH):
                return None
            flat, counts = [t.codes.reshape(-1) for t in (s[0], s[1], s[1], s[0])], s[2].codes.reshape(4, 4, 4)
            rows, got, after = 4 if v == "displaced" else 3, [], []
            for r in range(4):
                dst, now = flat[r].copy(), counts[r, :rows].copy()
                for i in range(4):
                    at, n = f(counts[i], r)
                    to = counts[r, 3, i] if v == "displaced" else 128 * i
                    dst[to:to + n] = flat[i][at:at + n]
                    now[2, i] = n
                got.append(dst)
                after.append(now)
            return got + after
        ROWS[name] = Row([(A, "a", ANY), (A, "b", None), ((16, 4), "ct", ("uint32",))], [ANY], variants, g)
        return f
    return add


by_counts("all_gather_v", ["plain"], 3)(lambda counts, r: (counts[1, 0], counts[0, 0]))
by_counts("all_to_all_v", ["plain", "known", "displaced"], 2)(lambda counts, r: (counts[1, r], counts[0, r]))

WORDS = ("uint32", "int32")


def held(group, rank, step):
    """Whose data a rank holds at a step of the ring, when it has passed on what it had so often."""
    if rank not in group:
        return 0xFFFFFFFF
    data = list(group)
    for _ in range(step):
        data = data[-1:] + data[:-1]
    return data[group.index(rank)]


@row("rank_id", [], [WORDS], ["plain"])
def rank_id(v, s, out, gen):
    return [np.full(6, r, np.uint32) for r in range(4)]


@row("collective_permute_implicit_current_processing_rank_id", [], [WORDS], ["whole", "pairs", "some"])
def current_processing_rank_id(v, s, out, gen):
    groups = {"whole": [[3, 1, 0, 2]], "pairs": [[2, 0], [1, 3]], "some": [[2, 0, 3]]}[v]
    of = [next((g for g in groups if r in g), []) for r in range(4)]
    return [np.array([held(of[r], r, i) for i in range(6)], np.uint32) for r in range(4)]


# ---- between two cores: pool a on the first, pool b on the other ----------------------------------------------------
def swapped(v, s, out, gen):
    if gen < 3 or out[0] != s[0].dtype or (gen < 4 and out[0] not in ARITH):
        return None
    return [np.concatenate([s[1].codes, s[0].codes])]


for NAME, VARIANTS in (("sendrecv", ["dma", "gpsimd_dma"]), ("core_barrier", ["gpsimd", "sync"])):
    ROWS[NAME] = Row([(A, "a", ANY), (A, "b", None)], [ANY], VARIANTS, swapped)
