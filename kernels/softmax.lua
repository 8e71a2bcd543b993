-- nki.kernels.softmax(x, lengths): softmax of each row, of the first lengths[r] elements where lengths are given.
--   out[r, c] = exp(x[r, c] - m) / sum over c' < lengths[r] of exp(x[r, c'] - m), m their maximum
--   out[r, c] = 0 for c >= lengths[r]
-- x [rows, cols], float32, bfloat16 or float16; lengths int32 [rows, 1], each 0 .. cols (default: cols). What stands
-- behind a row's length is not looked at, be it NaN; a row of length 0 is all zeros. Returns [rows, cols] of x's
-- dtype.
-- Rows go 128 at a time, a whole row at once, which bounds cols: some 16000, some 8000 with lengths. Arithmetic is
-- float32.
--   nkilua run kernels/softmax.lua 'x=bf16[200,300]:normal' 'lengths=i32[200,1]:full(17)'
local nki, nl, nisa = require "nki", require "nki.language", require "nki.isa"
local library = require "nki.library"

local LOWEST = -3.0e38

-- x where its column lies before the row's length, else LOWEST; and 1 for rows of length 1 or more, else 0.
local function masked(x, lengths, columns)
  local n, cols = x.shape:unpack()
  local length = nl.copy(lengths, nl.float32)
  local seen, tile = nl.ndarray({n, cols}, nl.uint8), nl.full({n, cols}, LOWEST, nl.float32)
  nisa.tensor_scalar(seen, columns[nl.ds(0, n)], nl.less, length)
  nisa.tensor_copy_predicated(tile, nl.copy(x, nl.float32), seen)
  return tile, nl.greater(length, 0)
end

return nki.jit(function(x, lengths)
  local list = {{"x", x, "rows cols"}}
  if lengths ~= nil then list[2] = {"lengths", lengths, "rows 1", {"int32"}} end
  local size = library.tensors("softmax", list)
  local out, columns = library.output(x.shape, x.dtype), nil
  if lengths ~= nil then
    columns = nl.ndarray({math.min(128, size.rows), size.cols}, nl.float32)
    nisa.iota(columns, {{1, size.cols}})
  end
  for r in nl.affine_range(0, size.rows, 128) do
    local part, n = library.part(r, 128, size.rows)
    local tile, some = nl.load(x[part]), nil
    if lengths ~= nil then tile, some = masked(tile, nl.load(lengths[part]), columns) end
    local least, sum = nl.ndarray({n, 1}, nl.float32), nl.ndarray({n, 1}, nl.float32)
    local e, y = nl.ndarray(tile.shape, nl.float32), nl.ndarray(tile.shape, x.dtype)
    nisa.tensor_reduce{dst = least, op = nl.maximum, data = tile, axis = 1, negate = true}
    nisa.activation_reduce{dst = e, op = nl.exp, data = tile, bias = least, reduce_op = nl.add, reduce_res = sum}
    nisa.reciprocal(sum, sum)
    if some then nisa.tensor_tensor(sum, sum, some, nl.multiply) end
    nisa.tensor_scalar(y, e, nl.multiply, sum)
    nl.store(out[part], y)
  end
  return out
end, {func_name = "softmax"})
