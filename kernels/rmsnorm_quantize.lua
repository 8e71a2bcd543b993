-- nki.kernels.rmsnorm_quantize(x, gamma, eps, clip): RMS normalisation, then one 8-bit scale per row.
--   y[r, c] = x[r, c] / sqrt(mean over c of x[r, c]^2 + eps) gamma[0, c]
--   scale[r] = max(max over c of |y[r, c]| / 240, 1e-6), and out[r, c] = y[r, c] / scale[r] as float8_e4m3
-- x [rows, cols] and gamma [1, cols], float32, bfloat16 or float16; without gamma y is only normalised. eps: default
-- 1e-6. clip: y is first limited to -clip .. clip (default: no limit). Returns out float8_e4m3 [rows, cols] and scale
-- float32 [rows, 1]; out times scale is about y, with a relative error of 1/16 at most where |out| is 2^-6 or more.
-- Rows go 128 at a time, a whole row at once, which bounds cols: some 11000. Arithmetic is float32.
--   nkilua run kernels/rmsnorm_quantize.lua 'x=bf16[200,300]' 'gamma=bf16[1,300]' clip=2.5
local nki, nl, nisa = require "nki", require "nki.language", require "nki.isa"
local library = require "nki.library"

local LARGEST, LEAST_SCALE = 240.0, 1e-6

-- y of one tile, in float32.
local function normalised(tile, gamma, epsilon)
  local n, cols = tile.shape:unpack()
  local y, sum = nl.ndarray(tile.shape, nl.float32), nl.ndarray({n, 1}, nl.float32)
  nisa.activation_reduce{dst = y, op = nl.square, data = tile, reduce_op = nl.add, reduce_res = sum}
  nisa.activation{dst = sum, op = nl.rsqrt, data = sum, scale = 1.0 / cols, bias = epsilon}
  if gamma then
    nisa.scalar_tensor_tensor(y, tile, nl.multiply, sum, nl.multiply, gamma)
  else
    nisa.tensor_scalar(y, tile, nl.multiply, sum)
  end
  return y
end

-- The row scales of y.
local function scales(y)
  local scale = nl.ndarray({y.shape[0], 1}, nl.float32)
  nisa.tensor_scalar_reduce{dst = nl.empty_like(y), data = y, op0 = nl.abs, operand0 = 0.0, reduce_op = nl.maximum,
                            reduce_res = scale}
  nisa.tensor_scalar{dst = scale, data = scale, op0 = nl.multiply, operand0 = 1.0 / LARGEST, op1 = nl.maximum,
                     operand1 = LEAST_SCALE}
  return scale
end

return nki.jit(function(x, gamma, eps, clip)
  local list = {{"x", x, "rows cols"}}
  if gamma ~= nil then list[2] = {"gamma", gamma, "1 cols"} end
  local size = library.tensors("rmsnorm_quantize", list)
  eps = library.number("rmsnorm_quantize", "eps", eps, 1e-6)
  clip = library.number("rmsnorm_quantize", "clip", clip, 0)
  if clip < 0 then library.refuse("rmsnorm_quantize", "clip", tostring(clip), "a limit is positive (0: none)") end
  local out, scale = library.output(x.shape, nl.float8_e4m3), library.output({size.rows, 1}, nl.float32)
  local most = math.min(128, size.rows)
  local weight = gamma ~= nil and nl.load(gamma:broadcast(0, most))
  local epsilon = nl.full({most, 1}, eps, nl.float32)
  for r in nl.affine_range(0, size.rows, 128) do
    local part, n = library.part(r, 128, size.rows)
    local here = nl.ds(0, n)
    local y = normalised(nl.load(x[part]), weight and weight[here], epsilon[here])
    if clip > 0 then
      nisa.tensor_scalar{dst = y, data = y, op0 = nl.minimum, operand0 = clip, op1 = nl.maximum, operand1 = -clip}
    end
    local s, q = scales(y), nl.ndarray(y.shape, nl.float8_e4m3)
    nisa.tensor_scalar(q, y, nl.multiply, nl.reciprocal(s))
    nl.store(out[part], q)
    nl.store(scale[part], s)
  end
  return out, scale
end, {func_name = "rmsnorm_quantize"})
