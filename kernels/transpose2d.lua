-- nki.kernels.transpose2d(x, rows, columns): transposes the small matrix that each row of x holds.
--   out[p, c rows + r] = x[p, r columns + c]
-- x [n, rows * columns] of any dtype but packed ones; rows and columns: of the matrix in each row of x. Returns the
-- same shape and dtype, bit by bit. 128 rows of x go at a time; a strided copy on chip does it, whole rows at once:
-- they are at most some 80 KiB long.
--   nkilua run kernels/transpose2d.lua 'x=i32[200,12]:iota' rows=3 columns=4
local nki, nl, nisa = require "nki", require "nki.language", require "nki.isa"
local library = require "nki.library"

local DTYPES = {"float32", "bfloat16", "float16", "int32", "uint32", "int16", "uint16", "int8", "uint8", "bool_",
                "tfloat32", "float8_e4m3", "float8_e4m3fn", "float8_e5m2"}

return nki.jit(function(x, rows, columns)
  local size = library.tensors("transpose2d", {{"x", x, "n length", DTYPES}})
  rows = library.integer("transpose2d", "rows", rows, {1})
  columns = library.integer("transpose2d", "columns", columns, {1})
  if rows * columns ~= size.length then
    library.refuse("transpose2d", "x", library.text_of(x), ("its rows must have rows * columns = %d elements")
                   :format(rows * columns))
  end
  local out = library.output(x.shape, x.dtype)
  for p in nl.affine_range(0, size.n, 128) do
    local part, n = library.part(p, 128, size.n)
    local turned = nl.ndarray({n, columns, rows}, x.dtype)
    nisa.tensor_copy(turned, nl.load(x[part]):reshape_dim(1, {rows, columns}):permute{0, 2, 1})
    nl.store(out[part], turned:flatten_dims(1, 2))
  end
  return out
end, {func_name = "transpose2d"})
