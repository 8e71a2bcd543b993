-- Row softmax, 128 rows at a time; the last tile may be partial. The Scalar engine makes exp and its row sum in
-- one pass.
--   nkilua run examples/softmax.lua 'x=f32[300,512]:normal(3)'
local nki, nl, nisa = require "nki", require "nki.language", require "nki.isa"

return nki.jit(function(x)
  local rows, cols = x.shape:unpack()
  local out = nl.ndarray(x.shape, x.dtype, {buffer = nl.shared_hbm})
  for r in nl.affine_range(0, rows, 128) do
    local n = math.min(128, rows - r)
    local part = nl.ds(r, n)
    local tile = nl.load(x[part])
    local negmax = nl.ndarray({n, 1}, nl.float32)
    nisa.tensor_reduce{dst = negmax, op = nl.maximum, data = tile, axis = 1, negate = true}
    local e, sum = nl.ndarray({n, cols}, nl.float32), nl.ndarray({n, 1}, nl.float32)
    nisa.activation_reduce{dst = e, op = nl.exp, data = tile, bias = negmax, reduce_op = nl.add, reduce_res = sum}
    nisa.reciprocal(sum, sum)
    local y = nl.ndarray({n, cols}, x.dtype)
    nisa.tensor_scalar(y, e, nl.multiply, sum)
    nl.store(out[part], y)
  end
  return out
end)
