"""examples.py -- inputs and expected outputs of examples/*.lua: one .npz each, inputs under the parameter names, the
expected output as `out`. Sizes are unequal and the last tiles partial. The mathematics is done in float64 and rounded
once."""
import ml_dtypes
import numpy as np

BF16 = ml_dtypes.bfloat16


def normal(seed, *shape, dtype=np.float32):
    return np.random.Generator(np.random.PCG64(seed)).standard_normal(shape).astype(dtype)


def raw(a):
    """bfloat16 is stored as two raw bytes, as ml_dtypes does."""
    return a.view(np.dtype("V2")) if a.dtype == BF16 else a


def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def f64(*arrays):
    return [a.astype(np.float64) for a in arrays]


def ranks(n, *shape):
    """x of each rank and their sum in rank order, in float32."""
    x = [normal(30 + r, *shape) for r in range(n)]
    out = x[0]
    for each in x[1:]:
        out = out + each
    return {**{f"x{r}": each for r, each in enumerate(x)}, "out": out}


def elementwise():
    a, b = normal(1, 200, 48), normal(2, 200, 48)
    w, g = normal(14, 150, 20), normal(15, 150, 20)
    x = normal(17, 384, 12)
    s = np.arange(50 * 16, dtype=np.float32).reshape(50, 16)
    n = np.full((1, 1), 20, np.int32)
    c = np.random.Generator(np.random.PCG64(22)).integers(-64, 65, (128, 24)).astype(np.float32)
    return {
        "tensor_add.npz": {"a": a, "b": b, "out": a + b},
        # -0.5 * g is exact, so one rounding remains
        "inplace_update.npz": {"weights": w, "grad": g, "out": (w + np.float32(-0.5) * g).astype(np.float32)},
        "spmd_scale.npz": {"x": x, "out": x * np.float32(0.5)},
        # integers and a power of two of rows: every step is exact
        "two_cores.npz": {"x": c, "out": c - c.mean(axis=0, keepdims=True, dtype=np.float64).astype(np.float32)},
        "all_reduce.npz": ranks(4, 12, 20),
        "dynamic_sum.npz": {"x": s, "n": n, "out": s[:20].sum(axis=0, keepdims=True, dtype=np.float32)},
    }


def gathers():
    table = normal(10, 300, 24, dtype=BF16)
    idx = np.random.Generator(np.random.PCG64(18)).integers(0, 300, (170, 1)).astype(np.int32)
    return {"embedding.npz": {"table": raw(table), "idx": idx, "out": raw(table[idx[:, 0]])}}


def products():
    lhs, rhs = normal(19, 160, 72, dtype=BF16), normal(20, 160, 560, dtype=BF16)
    a, b = f64(lhs, rhs)
    small = np.random.Generator(np.random.PCG64(21))
    li, ri = (small.integers(-8, 9, s).astype(np.float32) for s in ((200, 130), (200, 70)))
    return {
        "matmul.near.npz": {"lhsT": raw(lhs), "rhs": raw(rhs), "out": (a.T @ b).astype(np.float32)},
        "matmul_exact.npz": {"lhsT": li, "rhs": ri, "out": (li.astype(np.float64).T @ ri).astype(np.float32)},
    }


def norms():
    x, w, gamma, beta = normal(4, 140, 96), normal(5, 1, 96), normal(7, 1, 620), normal(8, 1, 620)
    y = normal(6, 70, 620)
    x6, w6 = f64(x, w)
    rms = x6 / np.sqrt((x6 * x6).mean(axis=1, keepdims=True) + 1e-6) * w6
    y6, g6, b6 = f64(y, gamma, beta)
    centred = y6 - y6.mean(axis=1, keepdims=True)
    layer = centred / np.sqrt((centred**2).mean(axis=1, keepdims=True) + 1e-5) * g6 + b6
    z = normal(3, 150, 80)
    return {
        "rmsnorm.near.npz": {"x": x, "w": w, "out": rms.astype(np.float32)},
        "layernorm.near.npz": {"x": y, "gamma": gamma, "beta": beta, "out": layer.astype(np.float32)},
        "softmax.near.npz": {"x": z, "out": softmax(z.astype(np.float64)).astype(np.float32)},
    }


def pools():
    x = np.random.Generator(np.random.PCG64(9)).integers(-64, 65, (130, 6, 8)).astype(np.float32)
    return {"avgpool.npz": {"x": x, "out": x.reshape(130, 3, 2, 4, 2).mean(axis=(2, 4), dtype=np.float32)}}


def attention():
    q, k, v = normal(11, 32, 150), normal(12, 32, 200), normal(13, 200, 32)
    q6, k6, v6 = f64(q, k, v)
    out = softmax(q6.T @ k6 / np.sqrt(32.0)) @ v6
    return {"attention.near.npz": {"q": q, "k": k, "v": v, "out": out.astype(np.float32)}}


def files():
    return {**elementwise(), **gathers(), **products(), **norms(), **pools(), **attention()}
