-- RMS normalisation of rows with a weight row: x / sqrt(mean(x^2) + eps) * w. The last tile may be partial.
--   nkilua run examples/rmsnorm.lua 'x=f32[300,512]:normal(4)' 'w=f32[1,512]:normal(5)'
local nki, nl, nisa = require "nki", require "nki.language", require "nki.isa"

return nki.jit(function(x, w, eps)
  eps = eps or 1e-6
  local rows, cols = x.shape:unpack()
  local out = nl.ndarray(x.shape, x.dtype, {buffer = nl.shared_hbm})
  local weight = nl.load(w:broadcast(0, math.min(128, rows))) -- the same row in every partition
  local epsilon = nl.full({math.min(128, rows), 1}, eps, nl.float32)
  for r in nl.affine_range(0, rows, 128) do
    local n = math.min(128, rows - r)
    local tile = nl.load(x[nl.ds(r, n)])
    local squares, sum = nl.ndarray({n, cols}, nl.float32), nl.ndarray({n, 1}, nl.float32)
    nisa.activation_reduce{dst = squares, op = nl.square, data = tile, reduce_op = nl.add, reduce_res = sum}
    local rrms = nl.ndarray({n, 1}, nl.float32)
    nisa.activation{dst = rrms, op = nl.rsqrt, data = sum, scale = 1.0 / cols, bias = epsilon[nl.ds(0, n)]}
    local y = nl.ndarray({n, cols}, x.dtype)
    nisa.scalar_tensor_tensor{dst = y, data = tile, op0 = nl.multiply, operand0 = rrms, op1 = nl.multiply,
                              operand1 = weight[nl.ds(0, n)]}
    nl.store(out[nl.ds(r, n)], y)
  end
  return out
end)
