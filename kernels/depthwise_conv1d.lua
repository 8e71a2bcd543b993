-- nki.kernels.depthwise_conv1d(x, weight, stride, pad): each channel convolved with a filter of its own.
--   out[b, c, i] = sum over s of x[b, c, i stride + s - pad] weight[c, s]; x is 0 outside
-- x [batch, channels, length], weight [channels, taps], float32, bfloat16 or float16. stride: default 1; pad, at both
-- ends: default 0. Returns [batch, channels, (length + 2 pad - taps) // stride + 1] of x's dtype. Channels go 128 at
-- a time, results 2048 at a time: one multiply-add of the Vector engine per tap. Sums are float32.
--   nkilua run kernels/depthwise_conv1d.lua 'x=bf16[2,160,300]' 'weight=bf16[160,4]' pad=3
local nki, nl, nisa = require "nki", require "nki.language", require "nki.isa"
local library = require "nki.library"

local PIECE = 2048

-- Elements first .. first + count - 1 of each row of x [n, length], which may lie outside.
local function stretch(x, first, count)
  local n, length = x.shape:unpack()
  local from, to = math.max(first, 0), math.min(first + count, length)
  if from == first and to == first + count then return nl.load(x[{{}, nl.ds(from, count)}], nl.float32) end
  local tile = nl.zeros({n, count}, nl.float32)
  if from < to then
    nisa.dma_copy(tile[{{}, nl.ds(from - first, to - from)}], x[{{}, nl.ds(from, to - from)}])
  end
  return tile
end

local function convolved(tile, weight, stride, count)
  local sum
  for s in nl.sequential_range(weight.shape[1]) do
    local tap, w = tile[{{}, {s, s + (count - 1) * stride + 1, stride}}], weight[{{}, nl.ds(s, 1)}]
    if sum then
      nisa.scalar_tensor_tensor(sum, tap, nl.multiply, w, nl.add, sum)
    else
      sum = nl.ndarray({tile.shape[0], count}, nl.float32)
      nisa.tensor_scalar(sum, tap, nl.multiply, w)
    end
  end
  return sum
end

return nki.jit(function(x, weight, stride, pad)
  local size = library.tensors("depthwise_conv1d", {{"x", x, "batch channels length"},
                                                    {"weight", weight, "channels taps"}})
  stride = library.integer("depthwise_conv1d", "stride", stride, {1, default = 1})
  pad = library.integer("depthwise_conv1d", "pad", pad, {0, default = 0})
  local count = (size.length + 2 * pad - size.taps) // stride + 1
  if count < 1 then
    library.refuse("depthwise_conv1d", "weight", library.text_of(weight),
                   ("its taps do not fit into %s with pad %d"):format(library.text_of(x), pad))
  end
  local out = library.output({size.batch, size.channels, count}, x.dtype)
  for c in nl.affine_range(0, size.channels, 128) do
    local part = library.part(c, 128, size.channels)
    local taps = nl.load(weight[part], nl.float32)
    for b in nl.affine_range(size.batch) do
      for i in nl.affine_range(0, count, PIECE) do
        local piece, n = library.part(i, PIECE, count)
        local tile = stretch(x[{b, part}], i * stride - pad, (n - 1) * stride + size.taps)
        nl.store(out[{b, part, piece}], nl.copy(convolved(tile, taps, stride, n), x.dtype))
      end
    end
  end
  return out
end, {func_name = "depthwise_conv1d"})
