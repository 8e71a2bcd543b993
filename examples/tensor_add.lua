-- Element-wise addition of two matrices, 128 rows at a time; the last tile may be partial.
--   nkilua run examples/tensor_add.lua 'a=f32[300,512]:normal(1)' 'b=f32[300,512]:normal(2)'
local nki, nl = require "nki", require "nki.language"

return nki.jit(function(a, b)
  assert(a.shape == b.shape, "shapes differ")
  local rows = a.shape[0]
  local out = nl.ndarray(a.shape, a.dtype, {buffer = nl.shared_hbm})
  for i in nl.affine_range((rows + 127) // 128) do
    local part = nl.ds(i * 128, math.min(128, rows - i * 128))
    nl.store(out[part], nl.load(a[part]) + nl.load(b[part]))
  end
  return out
end)
