-- nki.kernels.transpose(x): a matrix with rows and columns swapped.
--   out[n, m] = x[m, n]
-- x [M, N], float32, bfloat16, float16 or an integer dtype, of any size. Returns [N, M] of x's dtype, bit by bit; on
-- gen2 a row of floats that holds an infinity or NaN spoils the other elements of its block of 128 x 128.
-- Floats go through the Tensor engine in blocks of 128 x 128, integers by DMA.
--   nkilua run kernels/transpose.lua 'x=bf16[200,300]:iota'
local nki, nl = require "nki", require "nki.language"
local library = require "nki.library"

local PIECE = 4096
local DTYPES = {"float32", "bfloat16", "float16", "int32", "uint32", "int16", "uint16", "int8", "uint8"}

return nki.jit(function(x)
  local size = library.tensors("transpose", {{"x", x, "M N", DTYPES}})
  local out = library.output({size.N, size.M}, x.dtype)
  for m in nl.affine_range(0, size.M, 128) do
    local ms = library.part(m, 128, size.M)
    for piece in nl.affine_range(0, size.N, PIECE) do
      local cols, width = library.part(piece, PIECE, size.N)
      local rows = nl.load(x[{ms, cols}])
      for n in nl.affine_range(0, width, 128) do
        local turned = nl.copy(nl.transpose(rows[{{}, (library.part(n, 128, width))}]))
        nl.store(out[{nl.ds(piece + n, turned.shape[0]), ms}], turned)
      end
    end
  end
  return out
end, {func_name = "transpose"})
