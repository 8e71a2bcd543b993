"""kernels.py -- inputs and expected outputs of the kernel library and of spec/programs/ports: one .npz each, arguments under
the parameter names, expected outputs as `out`, `out1`. Float inputs are bfloat16 numbers, so every float dtype holds them
exactly; expected outputs are computed in float64 and rounded once, to float32. Sizes are unequal and cross the tiles."""
import ml_dtypes
import numpy as np

from examples import normal, raw, softmax

BF16 = ml_dtypes.bfloat16


def floats(seed, *shape, scale=1.0):
    return (normal(seed, *shape) * np.float32(scale)).astype(BF16)


def ints(seed, low, high, *shape):
    return np.random.Generator(np.random.PCG64(seed)).integers(low, high, shape)


def wide(a):
    return a.astype(np.float64)


def case(*outputs, **inputs):
    names = ["out"] + [f"out{i}" for i in range(1, len(outputs))]
    arrays = {k: raw(v) if v.dtype == BF16 else v for k, v in inputs.items()}
    return {**arrays, **{k: v.astype(np.float32) if v.dtype == np.float64 else v for k, v in zip(names, outputs)}}


def integers(rows, cols, a, b, modulus):
    return (np.arange(rows)[:, None] * a + np.arange(cols) * b) % modulus - modulus // 2


def digest(m):
    m = m.astype(np.float32)
    return {"some": m[::75], "rows": m.sum(axis=1, keepdims=True), "cols": m.sum(axis=0, keepdims=True)}


def products():
    files = {}
    for name, k, m, n in (("tall", 140, 530, 9), ("flat", 20, 5, 1100)):
        a, b = floats(31, k, m), floats(32, k, n)
        files[f"k_matmul_{name}.near.npz"] = case(wide(a).T @ wide(b), lhsT=a, rhs=b)
    # The spec makes the same integers: every 75th row of the result, and the sums of its rows and columns.
    for name, k, m, n in (("one_tile", 100, 64, 300), ("blocks", 300, 300, 1100)):
        files[f"k_integers_{name}.npz"] = digest(integers(k, m, 7, 3, 17).T @ integers(k, n, 5, 11, 13))
    files["k_integers_sum.npz"] = digest(integers(200, 1100, 7, 3, 17) + integers(200, 1100, 5, 11, 13))
    a, b = (ints(s, -4, 5, 300, n).astype(ml_dtypes.float8_e4m3) for s, n in ((33, 30), (34, 70)))
    out = a.astype(np.float32).T @ b.astype(np.float32)
    files["k_double_row.npz"] = {"lhsT": a.view(np.uint8), "rhs": b.view(np.uint8), "out": out}
    xT, w, a, b = floats(35, 150, 130), floats(36, 150, 40), floats(37, 150, 6), floats(38, 6, 40)
    x = wide(xT).T
    # x A is rounded to the dtype of x before it meets B: the spec runs float32.
    files["k_lora.near.npz"] = case(x @ wide(w) + 0.5 * (x @ wide(a)) @ wide(b), xT=xT, W=w, A=a, B=b)
    return files


def shared_exponent(group, largest):
    amax = np.abs(group).max(axis=1, keepdims=True)
    exponent = np.floor(np.log2(np.where(amax > 0, amax, 1.0))) - (largest - 1)
    return np.exp2(np.where(amax > 0, np.maximum(exponent, -127), -127))


def microscaled(x, dtype, largest):
    """x with each 32 rows of a column rounded to dtype times one power of two."""
    k, n = x.shape
    padded = np.zeros(((k + 31) // 32 * 32, n))
    padded[:k] = x
    group = padded.reshape(-1, 32, n)
    scale = shared_exponent(group, largest)
    return ((group / scale).astype(np.float32).astype(dtype).astype(np.float64) * scale).reshape(-1, n)[:k]


def mx():
    a, b = floats(41, 530, 35), floats(42, 530, 20)
    b *= np.exp2(ints(43, -6, 7, 530, 1)).astype(BF16)
    files = {}
    for name, dtype, largest in (("e4m3fn", ml_dtypes.float8_e4m3fn, 8), ("e5m2", ml_dtypes.float8_e5m2, 15)):
        out = microscaled(wide(a), dtype, largest).T @ microscaled(wide(b), dtype, largest)
        files[f"k_mx_{name}.near.npz"] = case(out, lhsT=a, rhs=b)
    return files


def attend(q, k, v, causal):
    heads, d, queries = q.shape
    share, keys = heads // k.shape[0], k.shape[2]
    out = []
    for h in range(heads):
        scores = wide(q[h]).T @ wide(k[h // share]) / np.sqrt(d)
        if causal:
            scores[np.arange(keys) > np.arange(queries)[:, None] + keys - queries] = -np.inf
        out.append(softmax(scores) @ wide(v[h // share]))
    return np.array(out)


def attention():
    q, k, v = floats(51, 4, 16, 130), floats(52, 2, 16, 150), floats(53, 2, 150, 8)
    q2, k2, v2 = floats(54, 1, 8, 20), floats(55, 1, 8, 700), floats(56, 1, 700, 8)
    return {
        "k_attention.near.npz": case(attend(q, k, v, False), q=q, k=k, v=v),
        "k_attention_causal.near.npz": case(attend(q, k, v, True), q=q, k=k, v=v),
        "k_attention_long.near.npz": case(attend(q2, k2, v2, True), q=q2, k=k2, v=v2),
    }


def rotate(x, cos, sin):
    half = x.shape[1] // 2
    a, b = x[:, :half], x[:, half:]
    return np.concatenate([a * cos - b * sin, b * cos + a * sin], axis=1)


def embeddings():
    table, angle = floats(61, 90, 12), np.arange(160)[:, None] / 100.0 ** (np.arange(6) / 6)
    cos, sin = np.cos(angle).astype(BF16), np.sin(angle).astype(BF16)
    ids, at = (ints(s, 0, top, 140, 1).astype(np.int32) for s, top in ((62, 90), (63, 160)))
    x = wide(table)[ids[:, 0]]
    files = {
        "k_embedding_rope.near.npz": case(rotate(x, wide(cos)[at[:, 0]], wide(sin)[at[:, 0]]), table=table, ids=ids,
                                          cos=cos, sin=sin, positions=at),
    }
    y, c, s = floats(64, 140, 12), cos[:140], sin[:140]
    files["k_rotary.near.npz"] = case(rotate(wide(y), wide(c), wide(s)), x=y, cos=c, sin=s)
    return files


def scans():
    batch, channels, steps, states = 2, 133, 40, 3
    delta = np.abs(floats(71, batch, channels, steps, scale=0.5))
    u, b, c = floats(72, batch, channels, steps), floats(73, batch, states, steps), floats(74, batch, states, steps)
    a = -np.abs(floats(75, channels, states))
    h, out = np.zeros((batch, channels, states)), np.zeros((batch, channels, steps))
    for t in range(steps):
        d, x = wide(delta)[:, :, t, None], wide(u)[:, :, t, None]
        h = np.exp(d * wide(a)) * h + d * x * wide(b)[:, None, :, t]
        out[:, :, t] = (h * wide(c)[:, None, :, t]).sum(axis=2)
    x = floats(76, 3, 2500)
    return {
        "k_mamba.near.npz": case(out, delta=delta, u=u, A=a, B=b, C=c),
        "k_cumsum.near.npz": case(np.cumsum(wide(x), axis=1), x=x),
    }


def pool(x, size, stride, pad, op):
    outside = -np.inf if op == "max" else 0.0
    padded = np.pad(wide(x), [(0, 0)] * (x.ndim - 2) + [(pad, pad)] * 2, constant_values=outside)
    windows = np.lib.stride_tricks.sliding_window_view(padded, (size, size), axis=(-2, -1))[..., ::stride, ::stride, :, :]
    return windows.max(axis=(-2, -1)) if op == "max" else windows.mean(axis=(-2, -1))


def stretch(x, axis):
    """Twice as long along axis, pixel centres kept."""
    x = np.moveaxis(x, axis, -1)
    before, after = np.concatenate([x[..., :1], x[..., :-1]], -1), np.concatenate([x[..., 1:], x[..., -1:]], -1)
    both = np.stack([0.75 * x + 0.25 * before, 0.75 * x + 0.25 * after], axis=-1)
    return np.moveaxis(both.reshape(*x.shape[:-1], -1), -1, axis)


def images():
    x, y = floats(81, 133, 7, 9), floats(82, 2, 70, 5, 6)
    z = floats(83, 1, 1, 50, 70)
    rows, cols = np.arange(8) * 7 // 8, np.arange(13) * 9 // 13
    return {
        "k_pool_max.npz": case(pool(x, 3, 2, 1, "max"), x=x),
        "k_pool_average.near.npz": case(pool(y, 3, 1, 1, "average"), x=y),
        "k_pool_whole.near.npz": case(pool(y, 2, 2, 0, "average"), x=y),
        "k_bilinear.near.npz": case(stretch(stretch(wide(y), 3), 2), x=y),
        "k_bilinear_bands.near.npz": case(stretch(stretch(wide(z), 3), 2), x=z),
        "k_nearest.npz": case(wide(x)[:, rows][:, :, cols], x=x),
    }


def layer(x, gamma, beta):
    centred = wide(x) - wide(x).mean(axis=1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(axis=1, keepdims=True) + 1e-5) * wide(gamma) + wide(beta)


def norms():
    x, gamma, beta = floats(91, 6, 1030), floats(92, 1, 1030), floats(93, 1, 1030)
    y, g = floats(94, 133, 40), floats(95, 1, 40)
    y6 = wide(y) / np.sqrt((wide(y) ** 2).mean(axis=1, keepdims=True) + 1e-6) * wide(g)
    scale = np.maximum(np.abs(y6).max(axis=1, keepdims=True) / 240, 1e-6)
    c6 = np.clip(y6, -1.5, 1.5)
    clipped = np.maximum(np.abs(c6).max(axis=1, keepdims=True) / 240, 1e-6)
    return {
        "k_layernorm.near.npz": case(layer(x, gamma, beta), x=x, gamma=gamma, beta=beta),
        "k_layernorm_rows.near.npz": case(layer(y, g, g), x=y, gamma=g, beta=g),
        "k_rmsnorm_quantize.near.npz": case(y6, scale, x=y, gamma=g),
        "k_rmsnorm_quantize_clip.near.npz": case(c6, clipped, x=y, gamma=g),
    }


def rows():
    x = floats(101, 133, 50)
    lengths = ints(102, 0, 51, 133, 1).astype(np.int32)
    lengths[:4, 0] = 0, 1, 50, 49
    masked = np.where(np.arange(50) < lengths, wide(x), -np.inf)
    soft = np.where(lengths > 0, np.nan_to_num(softmax(np.where(lengths > 0, masked, 0.0))), 0.0)
    logits, targets = floats(103, 133, 60, scale=4.0), ints(104, 0, 60, 133, 1).astype(np.int32)
    far = floats(105, 2, 9000, scale=3.0)
    last = np.array([[8999], [4096]], np.int32)
    t = floats(106, 133, 40)
    order = np.argsort(-wide(t), axis=1, kind="stable")[:, :21]
    mask = np.zeros(t.shape, np.float32)
    np.put_along_axis(mask, order, 1.0, axis=1)
    some = ints(107, 0, 3, 11, 30).astype(np.float32) - 1
    found = np.full((11, 31), -1, np.int32)
    for r, row in enumerate(some):
        at = np.flatnonzero(row)
        found[r, : len(at)], found[r, -1] = at, len(at)
    return {
        "k_softmax.near.npz": case(softmax(wide(x)), x=x),
        "k_softmax_lengths.near.npz": case(soft, x=x, lengths=lengths),
        "k_cross_entropy.near.npz": case(*entropy(logits, targets), logits=logits, targets=targets),
        "k_cross_entropy_far.near.npz": case(*entropy(far, last), logits=far, targets=last),
        "k_topk.npz": case(np.take_along_axis(wide(t), order, 1), order.astype(np.uint32), x=t),
        "k_topk_mask.npz": case(mask, x=t),
        "k_nonzero.npz": case(found, x=some),
    }


def entropy(logits, targets):
    x = wide(logits)
    top = x.max(axis=1, keepdims=True)
    lse = np.log(np.exp(x - top).sum(axis=1, keepdims=True)) + top
    return lse - np.take_along_axis(x, targets.astype(np.int64), 1), lse


def layers():
    x, w = floats(111, 2, 133, 25), floats(112, 133, 4)
    padded = np.pad(wide(x), [(0, 0), (0, 0), (3, 3)])
    windows = np.lib.stride_tricks.sliding_window_view(padded, 4, axis=2)
    conv = (windows * wide(w)[None, :, None, :]).sum(axis=3)
    t, gate, up, down = floats(113, 140, 20), floats(114, 20, 150, scale=0.2), floats(115, 20, 150), floats(116, 150, 9)
    g, u = wide(t) @ wide(gate), wide(t) @ wide(up)
    table, index, more = floats(117, 150, 6), np.random.Generator(np.random.PCG64(118)).permutation(150)[:140], floats(119, 140, 6)
    added = wide(table).copy()
    added[index] += wide(more)
    return {
        "k_conv1d.near.npz": case(conv, x=x, weight=w),
        "k_conv1d_stride.near.npz": case(conv[:, :, ::2], x=x, weight=w),
        "k_swiglu.near.npz": case((g / (1 + np.exp(-g)) * u) @ wide(down), x=t, gate=gate, up=up, down=down),
        "k_scatter_add.npz": case(added, table=table, index=index[:, None].astype(np.int32), rows=more),
        "k_turned.npz": case(wide(x[0]).T, x=x[0]),
        "k_turned_inside.npz": {"x": ints(122, -99, 99, 133, 12).astype(np.int32),
                                "out": ints(122, -99, 99, 133, 12).astype(np.int32).reshape(133, 3, 4).swapaxes(1, 2)
                                .reshape(133, 12)},
    }


def networks():
    x = floats(131, 133, 32)
    image, w, bias = floats(132, 2, 5, 19, 29), floats(133, 5, 3, 3, 7, scale=0.3), floats(134, 7, 1)
    padded = np.pad(wide(image), ((0, 0), (0, 0), (1, 1), (1, 1)))
    conv = sum(np.einsum("nchw,co->nohw", padded[:, :, i:i + 19, j:j + 29], wide(w)[:, i, j])
               for i in range(3) for j in range(3)) + wide(bias)[:, :, None]
    xT, q, scales = floats(135, 192, 9), ints(136, 0, 16, 192, 44).astype(np.uint8), abs(floats(137, 6, 44))
    product = wide(xT).T @ ((q - 8.0) * np.repeat(wide(scales), 32, axis=0))
    return {
        "k_sorted.npz": case(np.sort(wide(x), axis=1), x=x),
        "k_conv2d.near.npz": case(np.maximum(conv, 0), x=image, w=w, bias=bias),
        "k_conv2d_stride.near.npz": case(np.maximum(conv[:, :, ::2, ::2], 0), x=image, w=w, bias=bias),
        "k_int4.near.npz": case(product, xT=xT, wq=q[:, ::2] | q[:, 1::2] << 4, scales=scales),
    }


def files():
    parts = (products, mx, attention, embeddings, scans, images, norms, rows, layers, networks)
    return {name: arrays for part in parts for name, arrays in part().items()}
