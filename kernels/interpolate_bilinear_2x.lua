-- nki.kernels.interpolate_bilinear_2x(x): images of twice the height and width, bilinear, pixel centres kept (what
-- frameworks call align_corners = false); beyond its edge an image goes on with its edge.
--   along each axis: out[2 i] = 3/4 x[i] + 1/4 x[i - 1] and out[2 i + 1] = 3/4 x[i] + 1/4 x[i + 1]
-- x [images, channels, height, width], float32, bfloat16 or float16. Returns [images, channels, 2 height, 2 width] of
-- x's dtype.
-- 128 planes of images * channels go at a time, in bands of rows; three rows must fit SBUF: width is at most some 2500.
-- Arithmetic is float32, rounded once.
--   nkilua run kernels/interpolate_bilinear_2x.lua 'x=bf16[2,70,9,12]'
local nki, nl, nisa = require "nki", require "nki.language", require "nki.isa"
local library = require "nki.library"

local BAND = 3072 -- elements of x per partition

-- to = 3/4 near + 1/4 far; heavy is 3/4 near.
local function mix(to, heavy, far)
  nisa.scalar_tensor_tensor{dst = to, data = far, op0 = nl.multiply, operand0 = 0.25, op1 = nl.add, operand1 = heavy}
end

-- [n, rows, width] -> [n, rows, width, 2]
local function widened(x)
  local width = x.shape[2]
  local heavy = nl.multiply(x, 0.75)
  local y = nl.ndarray({x.shape[0], x.shape[1], width, 2}, nl.float32)
  nisa.tensor_copy(y[{{}, {}, 0, 0}], x[{{}, {}, 0}])
  nisa.tensor_copy(y[{{}, {}, width - 1, 1}], x[{{}, {}, width - 1}])
  if width > 1 then
    mix(y[{{}, {}, {1}, 0}], heavy[{{}, {}, {1}}], x[{{}, {}, {0, width - 1}}])
    mix(y[{{}, {}, {0, width - 1}, 1}], heavy[{{}, {}, {0, width - 1}}], x[{{}, {}, {1}}])
  end
  return y:flatten_dims(2, 3)
end

-- Rows of w [n, rows, width], of which `above` and `below` (0 or 1) are neighbours only -> [n, rows - above - below, 2,
-- width] of dtype.
local function heightened(w, above, below, dtype)
  local n, rows, width = w.shape:unpack()
  local count, heavy = rows - above - below, nl.multiply(w, 0.75)
  local y = nl.ndarray({n, count, 2, width}, dtype)
  if above == 0 then nisa.tensor_copy(y[{{}, 0, 0}], w[{{}, 0}]) end
  if below == 0 then nisa.tensor_copy(y[{{}, count - 1, 1}], w[{{}, rows - 1}]) end
  local up, down = count - 1 + above, count - 1 + below -- how many rows have a neighbour on that side
  if up > 0 then
    mix(y[{{}, nl.ds(1 - above, up), 0}], heavy[{{}, nl.ds(1, up)}], w[{{}, nl.ds(0, up)}])
  end
  if down > 0 then
    mix(y[{{}, nl.ds(0, down), 1}], heavy[{{}, nl.ds(above, down)}], w[{{}, nl.ds(above + 1, down)}])
  end
  return y:flatten_dims(1, 2)
end

return nki.jit(function(x)
  local size = library.tensors("interpolate_bilinear_2x", {{"x", x, "images channels height width"}})
  local height = size.height
  local out = library.output({size.images, size.channels, 2 * height, 2 * size.width}, x.dtype)
  local from, to = x:flatten_dims(0, 1), out:flatten_dims(0, 1)
  local most = math.max(1, BAND // size.width)
  for p in nl.affine_range(0, from.shape[0], 128) do
    local planes = library.part(p, 128, from.shape[0])
    for i in nl.affine_range(0, height, most) do
      local _, count = library.part(i, most, height)
      local above, below = i > 0 and 1 or 0, i + count < height and 1 or 0
      local tile = nl.load(from[{planes, nl.ds(i - above, count + above + below)}], nl.float32)
      nl.store(to[{planes, nl.ds(2 * i, 2 * count)}], heightened(widened(tile), above, below, x.dtype))
    end
  end
  return out
end, {func_name = "interpolate_bilinear_2x"})
