-- An optimiser step that updates its parameter in place: the kernel stores into `weights` and returns it, so operand 0
-- and output 0 are one buffer.
--   nkilua run examples/inplace_update.lua 'weights=f32[256,64]:normal(14)' 'grad=f32[256,64]:normal(15)' rate=0.5
local nki, nl, nisa = require "nki", require "nki.language", require "nki.isa"

return nki.jit(function(weights, grad, rate)
  assert(weights.shape == grad.shape, "shapes differ")
  local rows = weights.shape[0]
  for r in nl.affine_range(0, rows, 128) do
    local part = nl.ds(r, math.min(128, rows - r))
    local w = nl.load(weights[part])
    nisa.scalar_tensor_tensor{dst = w, data = nl.load(grad[part]), op0 = nl.multiply, operand0 = -rate,
                              op1 = nl.add, operand1 = w}
    nl.store(weights[part], w)
  end
  return weights
end)
