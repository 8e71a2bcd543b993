-- nki.kernels.rotary_embedding: rotates pairs of features by position.
--   x float [rows, d] with d even; cos, sin float [rows, d/2], one row per row of x. Returns [rows, d] of x's dtype:
--   out[r, i] = x[r, i] cos[r, i] - x[r, i + d/2] sin[r, i]
--   out[r, i + d/2] = x[r, i + d/2] cos[r, i] + x[r, i] sin[r, i].
-- Rows go 128 at a time, the last tile may be partial. Arithmetic is float32.
--   nkilua run kernels/rotary_embedding.lua 'x=bf16[200,64]:normal' 'cos=f32[200,32]:normal' 'sin=f32[200,32]:normal'
local nki, nl, nisa = require "nki", require "nki.language", require "nki.isa"

return nki.jit(function(x, cos, sin)
  local rows, d = x.shape:unpack()
  assert(d % 2 == 0, "the number of features must be even")
  assert(cos.shape == {rows, d // 2} and sin.shape == cos.shape, "cos and sin must be [rows, d/2]")
  local out = nl.ndarray(x.shape, x.dtype, {buffer = nl.shared_hbm})
  local first, second = nl.ds(0, d // 2), nl.ds(d // 2, d // 2)
  for r in nl.affine_range(0, rows, 128) do
    local part = nl.ds(r, math.min(128, rows - r))
    local tile, c, s = nl.load(x[part]), nl.load(cos[part]), nl.load(sin[part])
    local x1, x2 = tile[{{}, first}], tile[{{}, second}]
    local y = nl.ndarray(tile.shape, x.dtype)
    nisa.tensor_tensor(y[{{}, first}], nl.multiply(x1, c, nl.float32), nl.multiply(x2, s, nl.float32), nl.subtract)
    nisa.tensor_tensor(y[{{}, second}], nl.multiply(x2, c, nl.float32), nl.multiply(x1, s, nl.float32), nl.add)
    nl.store(out[part], y)
  end
  return out
end, {func_name = "rotary_embedding"})
