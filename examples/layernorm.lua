-- Layer normalisation of rows with gamma and beta rows; moments come from bn_stats, in chunks of at most 512,
-- and bn_aggr.
--   nkilua run examples/layernorm.lua 'x=f32[200,1200]' 'gamma=f32[1,1200]' 'beta=f32[1,1200]'
local nki, nl, nisa = require "nki", require "nki.language", require "nki.isa"

return nki.jit(function(x, gamma, beta, eps)
  local rows, cols = x.shape:unpack()
  local pmax = math.min(nl.tile_size.pmax, rows)
  local chunk = nl.tile_size.bn_stats_fmax
  local chunks = (cols + chunk - 1) // chunk
  local out = nl.ndarray(x.shape, x.dtype, {buffer = nl.shared_hbm})
  local g, b = nl.load(gamma:broadcast(0, pmax)), nl.load(beta:broadcast(0, pmax))
  local epsilon = nl.full({pmax, 1}, eps or 1e-5, nl.float32)
  for r in nl.affine_range(0, rows, pmax) do
    local n = math.min(pmax, rows - r)
    local here = nl.ds(0, n)
    local tile = nl.load(x[nl.ds(r, n)])
    local stats = nl.ndarray({n, chunks * 6}, nl.float32)
    for c in nl.affine_range(chunks) do
      nisa.bn_stats(stats[{{}, nl.ds(c * 6, 6)}], tile[{{}, nl.ds(c * chunk, math.min(chunk, cols - c * chunk))}])
    end
    local moments = nl.ndarray({n, 2}, nl.float32)
    nisa.bn_aggr(moments, stats)
    local mean, rstd = moments[{{}, nl.ds(0, 1)}], nl.ndarray({n, 1}, nl.float32)
    nisa.activation{dst = rstd, op = nl.rsqrt, data = moments[{{}, nl.ds(1, 1)}], bias = epsilon[here]}
    local centred = nl.ndarray({n, cols}, nl.float32)
    nisa.tensor_scalar{dst = centred, data = tile, op0 = nl.subtract, operand0 = mean,
                       op1 = nl.multiply, operand1 = rstd}
    nl.store(out[nl.ds(r, n)], nl.copy(centred * g[here] + b[here], x.dtype))
  end
  return out
end)
