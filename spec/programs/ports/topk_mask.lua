-- Which elements of each row are among its k largest (ties: the first ones), as 1 and 0. No sorting: the k-th largest
-- value is built bit by bit, counting after each bit how many elements reach it.
local nki, nl, nisa = require "nki", require "nki.language", require "nki.isa"

local function column(n, dtype) return nl.ndarray({n, 1}, dtype or nl.float32) end

-- How many elements of each row of x stand in relation op to bound.
local function count(x, op, bound)
  local total = column(x.shape[0])
  nisa.tensor_scalar_reduce{dst = nl.ndarray(x.shape, nl.float32), data = x, op0 = op, operand0 = bound,
                            reduce_op = nl.add, reduce_res = total}
  return total
end

-- Floats as integers that order like them, in two halves of 16 bits: high and low, as float32.
local function ordered_halves(x)
  local bits, flip = x:view(nl.uint32), nl.ndarray(x.shape, nl.uint32)
  local key = nl.ndarray(x.shape, nl.uint32)
  nisa.tensor_scalar(flip, bits, nl.right_shift, 31)                     -- 1 for negative numbers
  nisa.tensor_scalar{dst = flip, data = flip, op0 = nl.multiply, operand0 = 32767.0}
  nisa.tensor_scalar{dst = key, data = flip, op0 = nl.left_shift, operand0 = 16}
  nisa.tensor_scalar{dst = flip, data = flip, op0 = nl.bitwise_and, operand0 = 1}
  local low = nl.ndarray(x.shape, nl.uint32)
  nisa.tensor_scalar{dst = low, data = flip, op0 = nl.multiply, operand0 = 65535.0}
  nisa.tensor_tensor(key, key, low, nl.bitwise_or)                       -- 0x7fffffff for negative numbers
  nisa.tensor_tensor(key, key, bits, nl.bitwise_xor)
  nisa.tensor_scalar(key, key, nl.bitwise_xor, 0x80000000)
  local high = nl.ndarray(x.shape, nl.uint32)
  nisa.tensor_scalar(high, key, nl.right_shift, 16)
  nisa.tensor_scalar(low, key, nl.bitwise_and, 0xffff)
  return nl.copy(high, nl.float32), nl.copy(low, nl.float32)
end

-- The largest value of 16 bits that at least `keep` (a column) of the elements reach.
local function threshold(x, keep)
  local found = nl.zeros({x.shape[0], 1}, nl.float32)
  for bit in nl.sequential_range(15, -1, -1) do
    local try, ok = column(x.shape[0]), column(x.shape[0])
    nisa.tensor_scalar(try, found, nl.add, 2.0 ^ bit)
    nisa.tensor_tensor(ok, count(x, nl.greater_equal, try), keep, nl.greater_equal)
    nisa.scalar_tensor_tensor(found, ok, nl.multiply, 2.0 ^ bit, nl.add, found)
  end
  return found
end

local function masked(x, k)
  local n, cols = x.shape:unpack()
  local high, low = ordered_halves(x)
  local keep = nl.full({n, 1}, k, nl.float32)
  local top = threshold(high, keep)
  -- Where high equals top the low half decides; elsewhere it counts as -1, which nothing reaches.
  local same, above = nl.equal(high, top), nl.greater(high, top)
  local room = nl.subtract(keep, count(high, nl.greater, top))
  local rest = nl.subtract(nl.multiply(same, nl.add(low, 1.0)), 1.0)
  local bound = threshold(rest, room)
  local tied, over = nl.equal(rest, bound), nl.greater(rest, bound)
  room = nl.subtract(room, count(rest, nl.greater, bound))
  local order = nl.ndarray({n, cols}, nl.float32) -- running number of each tied element
  nisa.tensor_tensor_scan{dst = order, data0 = nl.ones({n, cols}, nl.float32), data1 = tied, initial = 0.0,
                          op0 = nl.multiply, op1 = nl.add}
  return nl.add(nl.add(above, over), nl.multiply(tied, nl.less_equal(order, room)))
end

return nki.jit(function(x, k)
  local out = nl.ndarray(x.shape, nl.float32, {buffer = nl.shared_hbm})
  for r in nl.affine_range(0, x.shape[0], 128) do
    local part = nl.ds(r, math.min(128, x.shape[0] - r))
    nl.store(out[part], masked(nl.load(x[part]), k))
  end
  return out
end)
