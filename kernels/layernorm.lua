-- nki.kernels.layernorm(x, gamma, beta, eps): each row moved to mean 0 and variance 1, then scaled and shifted.
--   out[r, c] = (x[r, c] - mean[r]) / sqrt(var[r] + eps) gamma[0, c] + beta[0, c]
-- x [rows, cols], gamma and beta [1, cols], float32, bfloat16 or float16; var is the mean of squared deviations. eps:
-- default 1e-5. Returns [rows, cols] of x's dtype.
-- Rows go 128 at a time, a whole row at once, which bounds cols: some 9000 in float32, some 14000 in 16 bits. Moments
-- come from pieces of at most 512 columns. Arithmetic is float32.
--   nkilua run kernels/layernorm.lua 'x=bf16[200,1200]' 'gamma=bf16[1,1200]' 'beta=bf16[1,1200]'
local nki, nl, nisa = require "nki", require "nki.language", require "nki.isa"
local library = require "nki.library"

-- Mean and 1 / sqrt(var + eps) of each row.
local function moments(tile, eps)
  local n, cols = tile.shape:unpack()
  local piece = nl.tile_size.bn_stats_fmax
  local stats = nl.ndarray({n, (cols + piece - 1) // piece, 6}, nl.float32)
  for c in nl.affine_range(0, cols, piece) do
    nisa.bn_stats(stats[{{}, c // piece}], tile[{{}, (library.part(c, piece, cols))}])
  end
  local both, scale = nl.ndarray({n, 2}, nl.float32), nl.ndarray({n, 1}, nl.float32)
  nisa.bn_aggr(both, stats)
  nisa.activation{dst = scale, op = nl.rsqrt, data = both[{{}, nl.ds(1, 1)}], bias = eps}
  return both[{{}, nl.ds(0, 1)}], scale
end

return nki.jit(function(x, gamma, beta, eps)
  local size = library.tensors("layernorm", {{"x", x, "rows cols"}, {"gamma", gamma, "1 cols"},
                                             {"beta", beta, "1 cols"}})
  eps = library.number("layernorm", "eps", eps, 1e-5)
  local out, most = library.output(x.shape, x.dtype), math.min(128, size.rows)
  local g, b = nl.load(gamma:broadcast(0, most)), nl.load(beta:broadcast(0, most))
  local epsilon = nl.full({most, 1}, eps, nl.float32)
  for r in nl.affine_range(0, size.rows, 128) do
    local part, n = library.part(r, 128, size.rows)
    local here, tile = nl.ds(0, n), nl.load(x[part])
    local mean, scale = moments(tile, epsilon[here])
    local centred, y = nl.ndarray(tile.shape, nl.float32), nl.ndarray(tile.shape, x.dtype)
    nisa.tensor_scalar{dst = centred, data = tile, op0 = nl.subtract, operand0 = mean, op1 = nl.multiply,
                       operand1 = scale}
    nisa.tensor_tensor(centred, centred, g[here], nl.multiply)
    nisa.tensor_tensor(y, centred, b[here], nl.add)
    nl.store(out[part], y)
  end
  return out
end, {func_name = "layernorm"})
