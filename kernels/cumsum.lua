-- nki.kernels.cumsum(x): running sums along each row.
--   out[r, c] = x[r, 0] + x[r, 1] + ... + x[r, c]
-- x [rows, cols], float32, bfloat16 or float16, of any size. Returns [rows, cols] of x's dtype.
-- Sums are float32, from left to right, rounded to x's dtype on write; the carry from one piece of 2048 columns to
-- the next is float32 too.
--   nkilua run kernels/cumsum.lua 'x=bf16[200,3000]:normal'
local nki, nl, nisa = require "nki", require "nki.language", require "nki.isa"
local library = require "nki.library"

local PIECE = 2048

return nki.jit(function(x)
  local size = library.tensors("cumsum", {{"x", x, "rows cols"}})
  local out = library.output(x.shape, x.dtype)
  local ones = nl.ones({math.min(128, size.rows), math.min(PIECE, size.cols)}, nl.float32)
  for r in nl.affine_range(0, size.rows, 128) do
    local rows, n = library.part(r, 128, size.rows)
    local carry = nl.zeros({n, 1}, nl.float32)
    for c in nl.sequential_range(0, size.cols, PIECE) do
      local cols, width = library.part(c, PIECE, size.cols)
      local sums = nl.ndarray({n, width}, nl.float32)
      local tile, factors = nl.load(x[{rows, cols}]), ones[{nl.ds(0, n), nl.ds(0, width)}]
      nisa.tensor_tensor_scan(sums, factors, tile, carry, nl.multiply, nl.add)
      nisa.tensor_copy(carry, sums[{{}, nl.ds(width - 1, 1)}])
      nl.store(out[{rows, cols}], nl.copy(sums, x.dtype))
    end
  end
  return out
end, {func_name = "cumsum"})
