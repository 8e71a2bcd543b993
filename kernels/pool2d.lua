-- nki.kernels.pool2d(x, size, stride, pad, op): maximum or average over square windows of images.
--   out[c, i, j] = op over di, dj < size of x[c, i stride + di - pad, j stride + dj - pad]
-- x [channels, height, width] or [images, channels, height, width], float32, bfloat16 or float16. size: 1 to 256;
-- stride: default size; pad: default 0, at most half of size. op: "max" (default; what is outside does not count) or
-- "average" (what is outside counts as 0, the divisor is always size^2). Returns the same rank, with (height + 2 pad
-- - size) // stride + 1 rows and columns likewise, of x's dtype.
-- 128 channels go at a time, in bands of rows; the rows of one window must fit SBUF: size * width is at most some
-- 35000. Sums are float32.
--   nkilua run kernels/pool2d.lua 'x=bf16[96,20,30]' size=3 stride=2 pad=1 'op="average"'
local nki, nl, nisa = require "nki", require "nki.language", require "nki.isa"
local library = require "nki.library"

local BAND, READ = 12288, 65536 -- elements per partition: of a band of rows, and what one instruction may read

-- The rows of x that windows `first` to `first + count - 1` cover, with their edges.
local function band_of(x, p, first, count)
  local n, height, width = x.shape:unpack()
  local rows, wide = (count - 1) * p.stride + p.size, width + 2 * p.pad
  local top = first * p.stride - p.pad
  local from, to = math.max(top, 0), math.min(top + rows, height)
  local tile = p.pad > 0 and nl.full({n, rows, wide}, p.outside, x.dtype) or nl.ndarray({n, rows, wide}, x.dtype)
  nisa.dma_copy(tile[{{}, nl.ds(from - top, to - from), nl.ds(p.pad, width)}], x[{{}, nl.ds(from, to - from)}])
  return tile
end

-- Some columns of the windows of a band, which become the two last axes; they overlap where stride < size.
local function windows(tile, p, count, columns)
  local n, rows, wide = tile.shape:unpack()
  local first = tile[{{}, {}, {columns.start * p.stride}}]
  return first:ap{{rows * wide, n}, {p.stride * wide, count}, {p.stride, columns.size}, {wide, p.size}, {1, p.size}}
end

-- The `count` rows of results that a band of x gives.
local function pooled(tile, p, count)
  local shape, op = {tile.shape[0], count, p.columns}, p.op == "max" and nl.maximum or nl.add
  local y = nl.ndarray(shape, tile.dtype)
  local folded = p.op == "max" and y or nl.ndarray(shape, nl.float32)
  local most = READ // (count * p.size * p.size)
  for j in nl.affine_range(0, p.columns, most) do
    local columns = library.part(j, most, p.columns)
    local data = windows(tile, p, count, columns)
    nisa.tensor_reduce{dst = folded[{{}, {}, columns}], op = op, data = data, axis = {3, 4}}
  end
  if p.op == "average" then nisa.tensor_scalar(y, folded, nl.multiply, 1.0 / (p.size * p.size)) end
  return y
end

local function parameters(x, size, stride, pad, op)
  local dims = library.tensors("pool2d", {{"x", x, "channels height width | images channels height width"}})
  local p = {op = library.choice("pool2d", "op", op, {"max", "average"})}
  p.size = library.integer("pool2d", "size", size, {1, 256})
  p.stride = library.integer("pool2d", "stride", stride, {1, default = p.size})
  p.pad = library.integer("pool2d", "pad", pad, {0, p.size // 2, default = 0})
  p.outside = p.op == "max" and -math.huge or 0.0
  p.rows = (dims.height + 2 * p.pad - p.size) // p.stride + 1
  p.columns = (dims.width + 2 * p.pad - p.size) // p.stride + 1
  if math.min(dims.height, dims.width) + 2 * p.pad < p.size then
    library.refuse("pool2d", "size", tostring(p.size), ("a window does not fit into %s with pad %d")
                   :format(library.text_of(x), p.pad))
  end
  return p, dims
end

return nki.jit(function(x, size, stride, pad, op)
  local p, dims = parameters(x, size, stride, pad, op)
  local shape = {dims.channels, p.rows, p.columns}
  if dims.images then table.insert(shape, 1, dims.images) end
  local out = library.output(shape, x.dtype)
  local from, to = x, out
  if dims.images then from, to = x:flatten_dims(0, 1), out:flatten_dims(0, 1) end
  local wide = dims.width + 2 * p.pad
  local most = math.max(1, (BAND // wide - p.size) // p.stride + 1)
  most = math.min(most, READ // (p.size * p.size))
  for c in nl.affine_range(0, from.shape[0], 128) do
    local part = library.part(c, 128, from.shape[0])
    for i in nl.affine_range(0, p.rows, most) do
      local rows, count = library.part(i, most, p.rows)
      nl.store(to[{part, rows}], pooled(band_of(from[part], p, i, count), p, count))
    end
  end
  return out
end, {func_name = "pool2d"})
