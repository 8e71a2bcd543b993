-- nki.kernels.rotary_embedding(x, cos, sin): rotates pairs of features by position.
--   out[r, i] = x[r, i] cos[r, i] - x[r, i + d/2] sin[r, i]
--   out[r, i + d/2] = x[r, i + d/2] cos[r, i] + x[r, i] sin[r, i]
-- x [rows, d] with d even; cos and sin [rows, d/2], one row per row of x; float32, bfloat16 or float16. Returns
-- [rows, d] of x's dtype.
-- Rows go 128 at a time; d is at most some 10000. Arithmetic is float32.
--   nkilua run kernels/rotary_embedding.lua 'x=bf16[200,64]:normal' 'cos=f32[200,32]:normal' 'sin=f32[200,32]:normal'
local nki, nl = require "nki", require "nki.language"
local library = require "nki.library"

return nki.jit(function(x, cos, sin)
  local size = library.tensors("rotary_embedding", {{"x", x, "rows d"}, {"cos", cos, "rows half"},
                                                    {"sin", sin, "rows half"}})
  if size.d ~= 2 * size.half then
    local rule = ("its columns must be half of x's %d"):format(size.d)
    library.refuse("rotary_embedding", "cos", library.text_of(cos), rule)
  end
  local out = library.output(x.shape, x.dtype)
  for r in nl.affine_range(0, size.rows, 128) do
    local part = library.part(r, 128, size.rows)
    nl.store(out[part], library.rotated(nl.load(x[part]), nl.load(cos[part]), nl.load(sin[part])))
  end
  return out
end, {func_name = "rotary_embedding"})
