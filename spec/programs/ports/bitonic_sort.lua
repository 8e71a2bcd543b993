-- Each row sorted, ascending: a bitonic network whose pairs of elements are strided views, so a stage is two minima and
-- two maxima whatever the row's length, a power of two.
local nki, nl, nisa = require "nki", require "nki.language", require "nki.isa"

-- Elements j apart are put in order; in every second block of k the larger one comes first.
local function stage(t, k, j)
  local P, n = t.shape:unpack()
  local blocks = math.max(1, n // (2 * k))
  local shape = {P, blocks, n // (blocks * k), k // (2 * j), 2, j}
  local out = nl.ndarray(t.shape, t.dtype)
  local from, to = t:reshape(shape), out:reshape(shape)
  for down = 0, shape[3] - 1 do
    local a, b = from[{":", ":", down, ":", 0}], from[{":", ":", down, ":", 1}]
    nisa.tensor_tensor(to[{":", ":", down, ":", down}], a, b, nl.minimum)
    nisa.tensor_tensor(to[{":", ":", down, ":", 1 - down}], a, b, nl.maximum)
  end
  return out
end

return nki.jit(function(x)
  local rows, n = x.shape:unpack()
  assert(n > 1 and n & (n - 1) == 0, "rows must be as long as a power of two")
  local out = nl.ndarray(x.shape, x.dtype, {buffer = nl.shared_hbm})
  for r in nl.affine_range(0, rows, 128) do
    local part = nl.ds(r, math.min(128, rows - r))
    local t = nl.load(x[part])
    local k = 2
    while k <= n do
      local j = k // 2
      while j >= 1 do
        t = stage(t, k, j)
        j = j // 2
      end
      k = 2 * k
    end
    nl.store(out[part], t)
  end
  return out
end)
